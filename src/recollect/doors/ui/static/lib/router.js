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

const amended = (changes) => { const { view, params } = here(); return address(view, { ...params, ...changes }); };

/** The same place with other particulars, without another step back in the history. */
export const amend = (changes) => history.replaceState(null, "", amended(changes));

/** What was opened is a step of its own: going back closes it. What is open already, or comes from the address, is none. */
export const opening = (changes, another) => {
  if (another || location.hash === amended(changes)) amend(changes);
  else history.pushState(null, "", amended(changes));
};
