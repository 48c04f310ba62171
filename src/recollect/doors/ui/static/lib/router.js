// Deep links after the #: `#/memories?theme=work&id=…`. What is looked at is in the address, so it can be sent and gone back to.
export function here() {
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
  return { view: path || "memories", params: Object.fromEntries(new URLSearchParams(search)) };
}

export function address(view, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = new URLSearchParams(given).toString();
  return `#/${view}${search ? `?${search}` : ""}`;
}

export const go = (view, params) => { location.hash = address(view, params); };

/** The same place with other particulars, without another step back in the history. */
export function amend(changes) {
  const { view, params } = here();
  history.replaceState(null, "", address(view, { ...params, ...changes }));
}
