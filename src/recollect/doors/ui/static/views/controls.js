// The hand on the memory: on and off, how long, what is shared between spaces, take it along, erase it, and who looked at it.
import { get, id, patch, post, query, remove, send } from "../lib/api.js";
import { askFor, confirmTyped, tell as show } from "../lib/dialog.js";
import { download, fill, h } from "../lib/dom.js";
import { attempt, tell, warn } from "../lib/notices.js";
import { state } from "../lib/state.js";
import { moment, number, t } from "../lib/words.js";

const TRAIL = 50;

export function controls() {
  const settings = h("div", { class: "card" });
  const element = h("section", { class: "controls stack" }, h("h2", {}, t("nav.controls")), spaces(), settings, mine(), trail());
  const load = () => attempt(async () => fill(settings, ...form(await get(`/v1/spaces/${id(state.me.space)}/settings`), load)));
  const changed = () => load();
  window.addEventListener("controls-changed", changed);
  load();
  return { element, leave: () => window.removeEventListener("controls-changed", changed) };
}

function form(set, load) {
  // What is saved is what is shown already; drawing it again would take away what is being typed next to it.
  // One after the other, in the order they were made.
  let last = Promise.resolve();
  const save = (change) => { last = last.then(() => attempt(async () => {
    await patch(`/v1/spaces/${id(set.space)}/settings`, change);
    tell(t("saved"));
  }, load)); };
  const toggle = (name) => h("label", { class: "switch" }, h("input", { type: "checkbox", role: "switch", checked: set[name], disabled: state.readOnly, onchange: (event) => save({ [name]: event.target.checked }) }),
    h("span", {}, h("strong", {}, t(`set.${name}`)), h("small", {}, t(`set.${name}.why`))));
  const whole = (name, empty) => h("label", { class: "field" }, h("strong", {}, t(`set.${name}`)), h("small", {}, t(`set.${name}.why`)),
    h("input", { type: "number", min: empty === null ? 1 : 0, value: set[name] ?? "", disabled: state.readOnly, placeholder: t("no.limit"), onchange: (event) => save({ [name]: event.target.value === "" ? empty : Number(event.target.value) }) }));
  return [h("h3", {}, t("set.title", { space: set.space })), toggle("memory_enabled"), toggle("incognito_default"), whole("soft_cap", 0), whole("retention_days", null),
    h("label", { class: "field" }, h("strong", {}, t("set.shared_tags")), h("small", {}, t("set.shared_tags.why")),
      h("input", { value: set.shared_tags.join(", "), disabled: state.readOnly, onchange: (event) => save({ shared_tags: event.target.value.split(/[,，]/).map((tag) => tag.trim()).filter(Boolean) }) }))];
}

function spaces() {
  const choose = (space) => { state.setSpace(space); location.reload(); };
  const known = [...new Set([state.me.space, ...state.me.spaces])];
  return h("div", { class: "card" }, h("h3", {}, t("spaces")), h("p", { class: "facts" }, t("spaces.why")),
    h("div", { class: "row" }, known.map((space) => h("button", { "aria-pressed": String(space === state.me.space), onclick: () => choose(space) }, space)),
      h("button", { class: "quiet", onclick: async () => { const name = await askFor(t("spaces.new"), t("spaces.name"), t("open")); if (name) choose(name); } }, t("spaces.new"))));
}

function mine() {
  const take = () => attempt(async () => {
    const answer = await send("/v1/export");
    download("recollect.jsonl", await answer.blob());
    tell(t("export.done"));
  });
  const bring = h("input", { type: "file", accept: ".jsonl,.ndjson,.json", hidden: true, onchange: () => attempt(async () => {
    const [file] = bring.files;
    if (!file) return;
    const receipt = await send("/v1/import", { method: "POST", lines: file }).then((answer) => answer.json());
    tell(t("import.done", { memories: number(receipt.memories), messages: number(receipt.messages), unchanged: number(receipt.unchanged), refused: number(receipt.refused) }));
  }) });
  const erase = async () => {
    const sure = await confirmTyped(t("erase.title"), t("erase.words"), state.me.user, t("erase.do"));
    if (!sure) return;
    const busy = h("progress", { "aria-label": t("erase.busy") });
    document.querySelector(".controls").prepend(busy);
    const receipt = await attempt(() => remove("/v1/me", { confirm: state.me.user }));
    busy.remove();
    if (receipt) show(t("erase.done"), h("dl", { class: "fact-list" }, Object.entries(receipt).map(([name, value]) => [h("dt", {}, t(`receipt.${name}`)), h("dd", {}, typeof value === "number" ? number(value) : t(value ? "yes" : "no"))]))).then(() => location.reload());
  };
  return h("div", { class: "card" }, h("h3", {}, t("mine")), h("p", { class: "facts" }, t("mine.why")),
    h("div", { class: "row" }, h("button", { onclick: take }, t("export.do")),
      state.readOnly ? null : [bring, h("button", { onclick: () => bring.click() }, t("import.do")), h("button", { class: "danger", onclick: erase }, t("erase.do"))]));
}

function trail() {
  const body = h("tbody");
  const more = h("button", { class: "quiet", hidden: true, onclick: () => load() }, t("more"));
  let offset = 0;
  const load = () => get(`/v1/audit${query({ limit: TRAIL, offset })}`).then((page) => {
    offset += page.items.length;
    more.hidden = offset >= page.total;
    body.append(...page.items.map((event) => h("tr", {}, h("td", {}, moment(event.at)), h("td", {}, event.action), h("td", {}, event.target_id ?? ""), h("td", {}, Object.entries(event.facts).map(([name, value]) => `${name} ${value}`).join(", ")))));
  }).catch(warn);
  load();
  return h("div", { class: "card" }, h("h3", {}, t("audit")), h("p", { class: "facts" }, t("audit.why")),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("audit") }, h("table", {}, h("thead", {}, h("tr", {}, ["audit.when", "audit.what", "audit.which", "audit.facts"].map((name) => h("th", { scope: "col" }, t(name))))), body)), more);
}
