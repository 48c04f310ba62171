// One memory: what it says, where it comes from, what it replaced, how it fared; and everything that can be done with it.
import { get, id, patch, post, remove } from "../lib/api.js";
import { bar } from "../lib/charts.js";
import { $, fill, h } from "../lib/dom.js";
import { attempt, holdBack, tell } from "../lib/notices.js";
import { address } from "../lib/router.js";
import { state } from "../lib/state.js";
import { ago, moment, number, said, t } from "../lib/words.js";

const path = (memory) => `/v1/memories/${id(memory.id)}`;

/** Pins or unpins at once, and takes it back if the server refuses. */
export function pin(memory, list) {
  const undo = list.replace(memory.id, { ...memory, pinned: !memory.pinned });
  return attempt(() => (memory.pinned ? remove(`${path(memory)}/pin`) : post(`${path(memory)}/pin`)), undo);
}

export function forget(memory, list) {
  const undo = list.replace(memory.id, null);
  holdBack(t("forgetting"), {
    undo,
    finish: (leaving) => remove(path(memory), undefined, { keepalive: leaving }),
    done: (receipt) => t("forgotten", { memories: receipt.memories + receipt.derived, vectors: receipt.vectors, entries: receipt.index_entries }),
  });
}

export async function memoryPanel(panel, name, { list, close, act, open }) {
  fill(panel, h("p", { class: "quiet" }, t("loading")));
  const again = () => memoryPanel(panel, name, { list, close, act, open });
  let why;
  let tellings;
  try {
    [why, tellings] = await Promise.all([get(`/v1/memories/${id(name)}/why`), get(`/v1/memories/${id(name)}/repeats`)]);
  } catch (problem) {
    fill(panel, heading(close), h("p", { class: "bad-words", role: "alert" }, said(problem)), h("button", { onclick: again }, t("again")));
    return;
  }
  if (panel.dataset.id !== name) return; // another one was opened in the meantime
  const { memory } = why;
  const changed = (now) => { list.replace(name, now); again(); };
  fill(panel, heading(close), text(memory, changed), actions(memory, { changed, act, again }), facts(memory, why),
    provenance(why), related(t("history"), why.history, open), related(t("derived"), why.derived, open),
    repeats(memory, tellings.repeats, again), scores(why.last_scores));
  $("h2", panel).focus();
}

const heading = (close) => h("div", { class: "row spread" }, h("h2", { tabindex: "-1" }, t("memory.one")), h("button", { class: "icon", "aria-label": t("close"), onclick: close }, "×"));

function text(memory, changed) {
  const shown = h("p", { class: "memory-text" }, memory.text);
  if (state.readOnly) return shown;
  const field = h("textarea", { rows: 4, "aria-label": t("text"), value: memory.text });
  const form = h("form", { hidden: true, onsubmit: (event) => {
    event.preventDefault();
    attempt(async () => { changed(await patch(path(memory), { text: field.value })); tell(t("saved")); });
  } }, field, h("div", { class: "row end" }, h("button", { type: "button", onclick: () => swap(false) }, t("cancel")), h("button", { class: "primary" }, t("save"))));
  const edit = h("button", { class: "quiet", onclick: () => swap(true) }, t("edit"));
  const swap = (editing) => {
    form.hidden = !editing;
    shown.hidden = edit.hidden = editing;
    (editing ? field : edit).focus();
  };
  return h("div", {}, shown, edit, form);
}

function actions(memory, { changed, act, again }) {
  if (state.readOnly) return null;
  const button = (words, work, kind = "") => h("button", { class: kind, onclick: work }, words);
  const turn = (verb) => () => attempt(async () => { changed(await post(`${path(memory)}/${verb}`)); tell(t(`done.${verb}`)); });
  return h("div", { class: "row" },
    button(t(memory.pinned ? "unpin" : "pin"), async () => { await act.pin(memory); again(); }),
    memory.status === "active" ? button(t("archive"), turn("archive")) : null,
    memory.status === "archived" ? button(t("restore"), turn("restore")) : null,
    button(t("forget"), () => act.forget(memory), "danger"));
}

function facts(memory, why) {
  const fact = (label, value) => (value === null || value === undefined || value === "" ? null : [h("dt", {}, label), h("dd", {}, value)]);
  const embedding = why.embedding.error ? `${t(`embedding.${why.embedding.state}`)}: ${why.embedding.error}` : t(`embedding.${why.embedding.state}`);
  return h("dl", { class: "fact-list" },
    fact(t("filter.type"), t(`type.${memory.type}`)), fact(t("filter.theme"), memory.theme), fact(t("tags"), memory.tags.join(", ")),
    fact(t("key"), memory.key), fact(t("filter.status"), t(`status.${memory.status}`)), fact(t("source"), t(`source.${memory.source}`)),
    fact(t("confidence"), number(memory.confidence)), fact(t("importance"), number(memory.importance)),
    fact(t("created"), moment(memory.created_at)), fact(t("expires"), memory.expires_at && moment(memory.expires_at)),
    fact(t("used"), memory.access_count ? t("used.times", { count: number(memory.access_count), when: ago(memory.last_accessed) }) : t("used.never")),
    fact(t("embedding"), embedding));
}

function provenance({ message, conversation, memory }) {
  if (!message && !conversation) return null;
  const where = address("conversations", { id: conversation?.id ?? message.session_id, message: memory.source_message_id ?? "" });
  return h("section", {}, h("h3", {}, t("comes.from")),
    message ? h("blockquote", {}, h("p", {}, message.content), h("footer", {}, `${message.name ?? t(`role.${message.role}`)} · ${moment(message.created_at)}`)) : null,
    h("a", { href: where }, conversation?.title ?? t("open.conversation")));
}

function related(title, memories, open) {
  if (!memories.length) return null;
  return h("section", {}, h("h3", {}, title), h("ul", { class: "plain" }, memories.map((each) =>
    h("li", {}, h("button", { class: "link", onclick: () => open(each) }, each.text), h("span", { class: "facts" }, ` ${t(`status.${each.status}`)} · ${ago(each.created_at)}`)))));
}

function repeats(memory, tellings, again) {
  if (tellings.length < 2) return null;
  const undo = (telling) => h("button", { class: "quiet", onclick: () => attempt(async () => { await post(`${path(memory)}/repeats/${id(telling.id)}/undo`); tell(t("saved")); again(); }) }, t("separate"));
  return h("section", {}, h("h3", {}, t("tellings", { count: number(tellings.length) })), h("ul", { class: "plain" }, tellings.map((telling) =>
    h("li", {}, telling.text, " ", h("span", { class: "facts" }, ago(telling.at)), telling.first || state.readOnly ? null : undo(telling)))));
}

function scores(last) {
  if (!last) return null;
  return h("section", {}, h("h3", {}, t("last.scores")),
    ["relevance", "recency", "importance", "total"].map((name) => bar(t(`score.${name}`), last[name])),
    h("p", { class: "facts" }, moment(last.computed_at)));
}
