// The hand on the memory: on and off, how long, what is shared between spaces, take it along, erase it, and who looked at it.
import { Problem, events, get, id, patch, query, send } from "../lib/api.js";
import { askFor, confirmTyped, tell as show } from "../lib/dialog.js";
import { download, fill, h } from "../lib/dom.js";
import { attempt, tell, trouble } from "../lib/notices.js";
import { address } from "../lib/router.js";
import { state } from "../lib/state.js";
import { moment, named, number, t } from "../lib/words.js";

const TRAIL = 50;
const FAR = 10;
const ENOUGH = 10;
const LOOKS = /\.(read|listed|recalled|examined)$/; // what changed nothing; this page looks, too

export function controls() {
  const settings = h("div", { class: "card" });
  const done = trail();
  const element = h("section", { class: "controls stack" }, h("h2", {}, t("nav.controls")), h("div", { class: "halves" }, h("div", { class: "stack" }, spaces(), settings), h("div", { class: "stack" }, mine(), done.element)));
  const load = () => get(`/v1/spaces/${id(state.me.space)}/settings`).then((set) => fill(settings, ...(state.readOnly ? facts : form)(set, load)),
    (problem) => fill(settings, h("h3", {}, t("set.title", { space: state.me.space })), trouble(problem, load)));
  load();
  return { element, refresh: () => { if (!settings.contains(document.activeElement)) load(); done.refresh(); } };
}

/** What is set, where nothing can be changed. */
function facts(set) {
  const said = (value) => (typeof value === "boolean" ? t(value ? "yes" : "no") : Array.isArray(value) ? value.join(", ") || "–" : value ? number(value) : t("no.limit"));
  return [h("h3", {}, t("set.title", { space: set.space })), h("dl", { class: "fact-list" },
    ["memory_enabled", "incognito_default", "soft_cap", "retention_days", "shared_tags"].map((name) => [h("dt", {}, t(`set.${name}`)), h("dd", {}, said(set[name]))]))];
}

function form(set, load) {
  // What is saved is what is shown already; drawing it again would take away what is being typed next to it.
  // One after the other, in the order they were made.
  let last = Promise.resolve();
  const save = (change) => { last = last.then(() => attempt(async () => {
    await patch(`/v1/spaces/${id(set.space)}/settings`, change);
    tell(t("saved"));
  }, load)); };
  const toggle = (name) => h("label", { class: "switch" }, h("input", { type: "checkbox", role: "switch", checked: set[name], onchange: (event) => save({ [name]: event.target.checked }) }),
    h("span", {}, h("strong", {}, t(`set.${name}`)), h("small", {}, t(`set.${name}.why`))));
  const whole = (name, empty) => h("label", { class: "field" }, h("strong", {}, t(`set.${name}`)), h("small", {}, t(`set.${name}.why`)),
    h("input", { type: "number", min: empty === null ? 1 : 0, value: set[name] ?? "", placeholder: t("no.limit"), onchange: (event) => save({ [name]: event.target.value === "" ? empty : Number(event.target.value) }) }));
  return [h("h3", {}, t("set.title", { space: set.space })), toggle("memory_enabled"), toggle("incognito_default"), whole("soft_cap", 0), whole("retention_days", null),
    h("label", { class: "field" }, h("strong", {}, t("set.shared_tags")), h("small", {}, t("set.shared_tags.why")),
      h("input", { value: set.shared_tags.join(", "), onchange: (event) => save({ shared_tags: event.target.value.split(/[,，]/).map((tag) => tag.trim()).filter(Boolean) }) }))];
}

function spaces() {
  const choose = (space) => { state.setSpace(space); location.reload(); };
  const known = [...new Set([state.me.space, ...state.me.spaces])];
  return h("div", { class: "card" }, h("h3", {}, t("spaces")), h("p", { class: "facts" }, t("spaces.why")),
    h("div", { class: "row" }, known.map((space) => h("button", { "aria-pressed": String(space === state.me.space), onclick: () => choose(space) }, space)),
      state.readOnly ? null : h("button", { class: "quiet", onclick: async () => { const name = await askFor(t("spaces.new"), t("spaces.name"), t("open")); if (name) choose(name); } }, t("spaces.new"))));
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
    tell(t("import.done", receipt));
  }) });
  const erase = async () => {
    const sure = await confirmTyped(t("erase.title"), t("erase.words"), state.me.user, t("erase.do"));
    if (!sure) return;
    const soFar = h("p", { role: "status" }, t("erase.busy"));
    const busy = h("div", { class: "card erasing" }, soFar, h("progress", { "aria-label": t("erase.busy") }));
    document.querySelector(".controls").prepend(busy);
    const receipt = await attempt(() => erased((gone) => fill(soFar, t("erase.so.far", gone))));
    busy.remove();
    if (receipt) show(t("erase.done"), h("dl", { class: "fact-list" }, Object.entries(receipt).map(([name, value]) => [h("dt", {}, t(`receipt.${name}`)), h("dd", {}, typeof value === "number" ? number(value) : t(value ? "yes" : "no"))]))).then(() => location.reload());
  };
  return h("div", { class: "card" }, h("h3", {}, t("mine")), state.readOnly ? null : h("p", { class: "facts" }, t("mine.why")),
    h("div", { class: "row" }, h("button", { onclick: take }, t("export.do")),
      state.readOnly ? null : [bring, h("button", { onclick: () => bring.click() }, t("import.do")), h("button", { class: "danger", onclick: erase }, t("erase.do"))]));
}

/** Erases everything, tells what went as it goes, and gives the receipt. */
async function erased(tell) {
  const answer = await send("/v1/me", { method: "DELETE", body: { confirm: state.me.user }, accept: "text/event-stream" });
  for await (const [name, data] of events(answer)) {
    if (name === "done") return data;
    if (name === "error") throw new Problem(data.message, { code: data.code });
    tell(data);
  }
  throw new Problem("unreachable");
}

/** What it was done to: a memory can be gone to, while it is there. */
function which({ target_id: target, target_kind: kind }) {
  if (!target) return "";
  const short = h("span", { title: target }, `…${target.slice(-6)}`);
  return kind === "memory" ? h("a", { href: address("memories", { id: target }) }, short) : short;
}

const setting = (name) => named(`set.${name}`, name);
const fact = ([name, value]) => `${named(`fact.${name}`, setting(name))}: ${name === "fields" ? String(value).split(/, ?/).map(setting).join(", ") : typeof value === "boolean" ? t(value ? "yes" : "no") : typeof value === "number" ? number(value) : named(`reason.${value}`, String(value))}`;

function trail() {
  const body = h("tbody");
  const failed = h("div");
  const more = h("button", { class: "quiet", hidden: true, onclick: () => load() }, t("more"));
  const row = (event) => h("tr", { class: LOOKS.test(event.action) ? "looked" : null }, h("td", {}, moment(event.at)), h("td", {}, named(`did.${event.action}`, event.action), h("p", { class: "facts" }, Object.entries(event.facts).filter(([name]) => name !== "query").map(fact).join(" · "))), h("td", {}, which(event)));
  let offset = 0;
  const load = (from = offset) => get(`/v1/audit${query({ limit: TRAIL, offset: from })}`).then((page) => {
    offset = from + page.items.length;
    more.hidden = offset >= page.total;
    fill(failed);
    if (!from) fill(body);
    body.append(...page.items.map(row));
  }).catch((problem) => fill(failed, trouble(problem, () => load(from))));
  const table = h("table", {}, h("thead", {}, h("tr", {}, ["audit.when", "audit.what", "audit.which"].map((name) => h("th", { scope: "col" }, t(name))))), body);
  const looks = h("label", { class: "check" }, h("input", { type: "checkbox", onchange: (event) => { table.classList.toggle("changes", event.target.checked); seek(); } }), t("audit.changes"));
  /** What changed something may lie far behind what was only looked at. */
  const seek = async () => {
    for (let pages = 0; pages < FAR && !more.hidden && table.matches(".changes") && body.querySelectorAll("tr:not(.looked)").length < ENOUGH; pages += 1) await load();
  };
  load();
  const element = h("div", { class: "card" }, h("div", { class: "row spread" }, h("h3", {}, t("audit")), looks), h("p", { class: "facts" }, t("audit.why")),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("audit") }, table), failed, more);
  return { element, refresh: () => { if (offset <= TRAIL) load(0); } }; // whoever paged on is left where they are
}
