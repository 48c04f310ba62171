// What is remembered: filters, search as you type, a list of any length, and beside it the one that is open.
import { get, post, query } from "../lib/api.js";
import { $, fill, h, settled } from "../lib/dom.js";
import { icon, iconButton, searchField } from "../lib/icons.js";
import { attempt, tell, trouble, warn } from "../lib/notices.js";
import { amend, opening } from "../lib/router.js";
import { state } from "../lib/state.js";
import { VirtualList } from "../lib/virtual.js";
import { ago, capital, listed, named, number, t } from "../lib/words.js";
import { disputes } from "./disputes.js";
import { TYPES, forget, memoryPanel, pin } from "./memory.js";

const STATUSES = ["active", "archived", "superseded"];
const MOST_FOUND = 50;
const LEAST_RELEVANT = 0.3; // each hit must match: a person who searches wants no company for the best one

const asked = (params) => ({ q: params.q ?? "", type: params.type ?? "", theme: params.theme ?? "", status: params.status ?? "active", pinned: params.pinned ?? "" });

export function memories(params) {
  const wanted = asked(params);
  const count = h("p", { class: "count", role: "status" });
  const panel = h("aside", { class: "panel", "aria-label": t("memory.one") });
  const empty = h("div", { class: "empty", hidden: true });
  const list = new VirtualList({ label: t("nav.memories"), rowHeight: 76, narrowRowHeight: 98, fetch: fetchPage, draw: (item) => row(item, act, wanted.q), open, arrived });
  const act = { pin: (item) => pin(item, list), forget: (item, said) => { if (panel.dataset.id === item.id) close(); forget(item, list, said); } };

  async function fetchPage(offset, limit) {
    if (wanted.q) return offset ? { items: [], total: list.total } : found();
    return get(`/v1/memories${query({ limit, offset, type: wanted.type, theme: wanted.theme, status: wanted.status, pinned: wanted.pinned })}`);
  }

  async function found() {
    const { hits } = await post("/v1/memories/search", {
      query: wanted.q, typing: true, looking: true, kinds: ["memory"], limit: MOST_FOUND, min_relevance: LEAST_RELEVANT,
      types: wanted.type ? [wanted.type] : [], themes: wanted.theme ? [wanted.theme] : [],
    });
    const items = hits.filter((hit) => !wanted.pinned || hit.pinned).sort((one, two) => two.relevance - one.relevance); // by the figure that is shown
    return { items, total: items.length };
  }

  function arrived(total) {
    count.textContent = t(wanted.q ? "found" : "remembered", { count: total });
    empty.hidden = total > 0;
    list.element.hidden = total === 0;
    if (total === 0) fill(empty, ...teach(wanted));
  }

  async function load() {
    $("[data-status]", view).disabled = Boolean(wanted.q); // only what is current is searched
    amend({ q: wanted.q, type: wanted.type, theme: wanted.theme, status: wanted.status === "active" ? "" : wanted.status, pinned: wanted.pinned });
    await list.load().catch(failed);
  }

  /** Nothing came: that is said where the list would be, with a way to ask again. */
  function failed(problem) {
    list.element.hidden = true;
    empty.hidden = false;
    count.textContent = "";
    fill(empty, trouble(problem, load));
  }

  async function open(item) {
    opening({ id: item.id }, panel.dataset.id);
    panel.dataset.id = item.id;
    list.mark(item.id);
    panel.classList.add("open");
    await memoryPanel(panel, item.id, { list, close, act, open });
  }

  function close() {
    amend({ id: "" });
    delete panel.dataset.id;
    list.mark(null);
    panel.classList.remove("open");
    fill(panel);
    list.rows.get(list.current)?.focus();
  }

  const doubts = disputes(load);
  const themes = themeChips(wanted, load);
  const view = h("section", { class: "memories", onkeydown: keys },
    h("div", { class: "stack" }, doubts.element, composer(load, themes), toolbar(wanted, settled(load), load), h("div", { class: "list-head" }, themes.element, count), empty, list.element), panel);

  /** Shows what others changed meanwhile, without moving anything; what is being edited is left alone. */
  async function refresh() {
    themes.load();
    doubts.load();
    await attempt(() => (list.element.hidden ? list.load() : list.refresh()));
    if (panel.dataset.id && !$("form:not([hidden])", panel)) await memoryPanel(panel, panel.dataset.id, { list, close, act, open, quietly: true });
  }

  /** Going back or forth among what was opened here leaves the list where it stands. */
  function follow(now) {
    if (JSON.stringify(asked(now)) !== JSON.stringify(wanted)) return false;
    if (now.id && now.id !== panel.dataset.id && !state.incognito) open({ id: now.id });
    else if (!now.id && panel.dataset.id) close();
    return true;
  }

  function keys(event) {
    if (event.target.closest("input, textarea, select, button")) return;
    const item = list.items[list.current];
    if (event.key === "Escape" && panel.dataset.id) close();
    else if (event.key === "p" && item && !state.readOnly) act.pin(item);
    else if (event.key === "Delete" && item && !state.readOnly) act.forget(item);
  }

  load().then(() => { if (params.id && !state.incognito) open({ id: params.id }); });
  return { element: view, refresh, follow, leave: () => list.close() };
}

/** The text with the words that were looked for marked. */
function marked(text, query) {
  const words = query.split(/\s+/).filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!words.length) return text;
  return text.split(new RegExp(`(${words.join("|")})`, "giu")).map((part, index) => (index % 2 ? h("mark", {}, part) : part));
}

function row(item, act, query) {
  const facts = [t(`type.${item.type}`), item.theme, ...(item.tags ?? []).map((tag) => `#${tag}`), t(`source.${item.source ?? "unknown"}`), ago(item.created_at)];
  return [
    h("div", { class: "row-text" },
      h("p", { class: "row-content" }, item.pinned ? h("span", { class: "pin-mark", role: "img", "aria-label": t("pinned") }, icon("pin", true)) : null, marked(item.text, query)),
      h("p", { class: "facts" }, facts.filter(Boolean).join(" · "), badge(item))),
    item.relevance === undefined ? null : h("span", { class: "relevance", title: t("relevance") }, `${number(Math.round(item.relevance * 100))} %`),
    state.readOnly ? null : h("div", { class: "row-actions" },
      item.pinned === undefined ? null : iconButton("pin", t(item.pinned ? "unpin" : "pin"), () => act.pin(item), { pressed: item.pinned }),
      iconButton("forget", t("forget"), () => act.forget(item))),
  ];
}

export function badge(item) {
  const marks = [];
  if (item.status && item.status !== "active") marks.push([item.status, t(`status.${item.status}`), ""]);
  if (item.embedding && item.embedding !== "ready") marks.push([item.embedding, t(`embedding.${item.embedding}`), item.embedding_error ?? ""]);
  return marks.map(([kind, words, why]) => h("span", { class: `badge ${kind}`, title: why }, words));
}

function toolbar(wanted, soon, now) {
  const choose = (name, label, options) => h("select", { "aria-label": label, [`data-${name}`]: true, onchange: (event) => { wanted[name] = event.target.value; now(); } }, options);
  const option = (name, value, words) => h("option", { value, selected: wanted[name] === value }, words);
  return h("form", { class: "toolbar", role: "search", onsubmit: (event) => event.preventDefault() },
    searchField({ value: wanted.q, placeholder: t("search.hint"), oninput: (event) => { wanted.q = event.target.value.trim(); soon(); } }),
    choose("type", t("filter.type"), [option("type", "", t("any.type")), ...TYPES.map((each) => option("type", each, capital(t(`type.${each}`))))]),
    choose("status", t("filter.status"), STATUSES.map((each) => option("status", each, capital(t(`status.${each}`))))),
    h("label", { class: "check" }, h("input", { type: "checkbox", checked: wanted.pinned === "true", onchange: (event) => { wanted.pinned = event.target.checked ? "true" : ""; now(); } }), t("pinned.only")));
}

/** The themes in use, largest first; one is chosen, or none. */
function themeChips(wanted, now) {
  const place = h("div", { class: "chips", role: "group", "aria-label": t("filter.theme") });
  const chip = (slug, name, count) => h("button", { type: "button", class: "chip", "data-theme-name": slug, "aria-pressed": String(wanted.theme === slug), onclick: () => {
    wanted.theme = slug;
    for (const each of place.children) each.setAttribute("aria-pressed", String(each.dataset.themeName === slug));
    now();
  } }, name, count === null ? null : h("span", { class: "chip-count" }, number(count)));
  const load = () => get("/v1/themes").then(({ themes }) => {
    fill(place, ...(themes.length ? [chip("", t("any.theme"), null), themes.map((each) => chip(each.slug, each.display_name, each.count))] : []));
  }).catch(warn);
  load();
  return { element: place, load };
}

function composer(load, themes) {
  if (state.readOnly || state.incognito) return null;
  const text = h("input", { "data-new": true, placeholder: t("tell.hint"), "aria-label": t("tell"), autocomplete: "off", maxlength: 20_000 });
  return h("form", { class: "composer", onsubmit: (event) => {
    event.preventDefault();
    if (!text.value.trim()) return;
    attempt(async () => {
      const receipt = await post("/v1/memories", { text: text.value, source: "manual", manually_saved: true });
      text.value = "";
      tell(receipt.confirm ?? t(`outcome.${receipt.outcome}`));
      if (receipt.masked.length) tell(t("masked", { kind: listed(receipt.masked.map((kind) => named(`secret.${kind}`, kind))) }));
      themes.load();
      await load();
    });
  } }, text, h("button", { class: "primary" }, t("remember")));
}

function teach(wanted) {
  if (state.incognito) return [h("h2", {}, t("empty.incognito")), h("p", {}, t("empty.incognito.why"))];
  if (wanted.q) return [h("h2", {}, t("empty.search")), h("p", {}, t("empty.search.why"))];
  if (wanted.type || wanted.theme || wanted.pinned || wanted.status !== "active") return [h("h2", {}, t("empty.filter")), h("p", {}, t("empty.filter.why"))];
  if (state.readOnly) return [h("h2", {}, t("empty.all")), h("p", {}, t("empty.read.only"))];
  return [h("h2", {}, t("empty.all")), h("p", {}, t("empty.all.why")), h("p", {}, h("a", { href: "#/chat" }, t("empty.all.chat")))];
}
