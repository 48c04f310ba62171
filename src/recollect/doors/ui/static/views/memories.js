// What is remembered: filters, search as you type, a list of any length, and beside it the one that is open.
import { get, post, query } from "../lib/api.js";
import { fill, h, settled } from "../lib/dom.js";
import { attempt, tell, warn } from "../lib/notices.js";
import { amend } from "../lib/router.js";
import { state } from "../lib/state.js";
import { VirtualList } from "../lib/virtual.js";
import { ago, number, t } from "../lib/words.js";
import { disputes } from "./disputes.js";
import { forget, memoryPanel, pin } from "./memory.js";

const TYPES = ["fact", "preference", "decision", "note", "pattern", "instruction", "summary", "other"];
const STATUSES = ["active", "archived", "superseded"];
const MOST_FOUND = 50;
const LEAST_RELEVANT = 0.3; // each hit must match: a person who searches wants no company for the best one

export function memories(params) {
  const wanted = { q: params.q ?? "", type: params.type ?? "", theme: params.theme ?? "", status: params.status ?? "active", pinned: params.pinned ?? "" };
  const count = h("p", { class: "count", role: "status" });
  const panel = h("aside", { class: "panel", "aria-label": t("memory.one") });
  const empty = h("div", { class: "empty", hidden: true });
  const list = new VirtualList({ label: t("nav.memories"), rowHeight: 76, fetch: fetchPage, draw: (item) => row(item, act), open, arrived });
  const act = { pin: (item) => pin(item, list), forget: (item) => { if (panel.dataset.id === item.id) close(); forget(item, list); } };

  async function fetchPage(offset, limit) {
    if (wanted.q) return offset ? { items: [], total: list.total } : found();
    return get(`/v1/memories${query({ limit, offset, type: wanted.type, theme: wanted.theme, status: wanted.status, pinned: wanted.pinned })}`);
  }

  async function found() {
    const { hits } = await post("/v1/memories/search", {
      query: wanted.q, kinds: ["memory"], limit: MOST_FOUND, min_relevance: LEAST_RELEVANT,
      types: wanted.type ? [wanted.type] : [], themes: wanted.theme ? [wanted.theme] : [],
    });
    return { items: hits, total: hits.length };
  }

  function arrived(total) {
    count.textContent = wanted.q ? t("found", { count: number(total) }) : t("remembered", { count: number(total) });
    empty.hidden = total > 0;
    list.element.hidden = total === 0;
    if (total === 0) fill(empty, ...teach(wanted));
  }

  async function load() {
    amend({ q: wanted.q, type: wanted.type, theme: wanted.theme, status: wanted.status === "active" ? "" : wanted.status, pinned: wanted.pinned });
    await attempt(() => list.load());
  }

  async function open(item) {
    amend({ id: item.id });
    panel.dataset.id = item.id;
    panel.classList.add("open");
    await memoryPanel(panel, item.id, { list, close, act, open });
  }

  function close() {
    amend({ id: "" });
    delete panel.dataset.id;
    panel.classList.remove("open");
    fill(panel);
    list.rows.get(list.current)?.focus();
  }

  const view = h("section", { class: "memories", onkeydown: keys },
    h("div", { class: "stack" }, disputes(load), composer(load), toolbar(wanted, settled(load), load), themeChips(wanted, load), count, empty, list.element), panel);

  function keys(event) {
    if (event.target.closest("input, textarea, select, button")) return;
    const item = list.items[list.current];
    if (event.key === "Escape" && panel.dataset.id) close();
    else if (event.key === "p" && item && !state.readOnly) act.pin(item);
    else if (event.key === "Delete" && item && !state.readOnly) act.forget(item);
  }

  load().then(() => { if (params.id && !state.incognito) open({ id: params.id }); });
  return { element: view, leave: () => list.close() };
}

function row(item, act) {
  const facts = [t(`type.${item.type}`), item.theme, ...(item.tags ?? []).map((tag) => `#${tag}`), t(`source.${item.source ?? "unknown"}`), ago(item.created_at)];
  return [
    h("div", { class: "row-text" },
      h("p", { class: "row-content" }, item.pinned ? h("span", { class: "pin-mark", "aria-label": t("pinned") }, "◆ ") : null, item.text),
      h("p", { class: "facts" }, facts.filter(Boolean).join(" · "), badge(item))),
    item.relevance === undefined ? null : h("span", { class: "relevance", title: t("relevance") }, number(item.relevance)),
    state.readOnly ? null : h("div", { class: "row-actions" },
      item.pinned === undefined ? null : h("button", { class: "icon", "aria-label": t(item.pinned ? "unpin" : "pin"), "aria-pressed": String(item.pinned), onclick: () => act.pin(item) }, item.pinned ? "◆" : "◇"),
      h("button", { class: "icon", "aria-label": t("forget"), onclick: () => act.forget(item) }, "✕")),
  ];
}

export function badge(item) {
  const marks = [];
  if (item.status && item.status !== "active") marks.push([item.status, t(`status.${item.status}`), ""]);
  if (item.embedding && item.embedding !== "ready") marks.push([item.embedding, t(`embedding.${item.embedding}`), item.embedding_error ?? ""]);
  return marks.map(([kind, words, why]) => h("span", { class: `badge ${kind}`, title: why }, words));
}

function toolbar(wanted, soon, now) {
  const choose = (name, label, options) => h("select", { "aria-label": label, onchange: (event) => { wanted[name] = event.target.value; now(); } }, options);
  const option = (name, value, words) => h("option", { value, selected: wanted[name] === value }, words);
  return h("form", { class: "toolbar", role: "search", onsubmit: (event) => event.preventDefault() },
    h("input", { type: "search", "data-search": true, value: wanted.q, placeholder: t("search.hint"), "aria-label": t("search"), autocomplete: "off", oninput: (event) => { wanted.q = event.target.value.trim(); soon(); } }),
    choose("type", t("filter.type"), [option("type", "", t("any.type")), ...TYPES.map((each) => option("type", each, t(`type.${each}`)))]),
    choose("status", t("filter.status"), STATUSES.map((each) => option("status", each, t(`status.${each}`)))),
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
  get("/v1/themes").then(({ themes }) => {
    if (themes.length) fill(place, chip("", t("any.theme"), null), themes.map((each) => chip(each.slug, each.display_name, each.count)));
  }).catch(warn);
  return place;
}

function composer(load) {
  if (state.readOnly || state.incognito) return null;
  const text = h("input", { "data-new": true, placeholder: t("tell.hint"), "aria-label": t("tell"), autocomplete: "off", maxlength: 20_000 });
  return h("form", { class: "composer", onsubmit: (event) => {
    event.preventDefault();
    if (!text.value.trim()) return;
    attempt(async () => {
      const receipt = await post("/v1/memories", { text: text.value, source: "manual", manually_saved: true });
      text.value = "";
      tell(receipt.confirm ?? t(`outcome.${receipt.outcome}`));
      receipt.masked.forEach((kind) => tell(t("masked", { kind })));
      await load();
    });
  } }, text, h("button", { class: "primary" }, t("remember")));
}

function teach(wanted) {
  if (state.incognito) return [h("h2", {}, t("empty.incognito")), h("p", {}, t("empty.incognito.why"))];
  if (wanted.q) return [h("h2", {}, t("empty.search")), h("p", {}, t("empty.search.why"))];
  if (wanted.type || wanted.theme || wanted.pinned || wanted.status !== "active") return [h("h2", {}, t("empty.filter")), h("p", {}, t("empty.filter.why"))];
  return [h("h2", {}, t("empty.all")), h("p", {}, t("empty.all.why")), h("p", {}, h("a", { href: "#/chat" }, t("empty.all.chat")))];
}
