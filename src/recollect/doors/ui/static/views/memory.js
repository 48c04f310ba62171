// One memory: what it says, where it comes from, what it replaced, how it fared; and everything that can be done with it.
import { get, id, patch, post, query, remove } from "../lib/api.js";
import { bar } from "../lib/charts.js";
import { $, fill, h } from "../lib/dom.js";
import { iconButton } from "../lib/icons.js";
import { attempt, holdBack, tell, trouble } from "../lib/notices.js";
import { address } from "../lib/router.js";
import { state } from "../lib/state.js";
import { ago, moment, number, t } from "../lib/words.js";

export const TYPES = ["fact", "preference", "decision", "note", "pattern", "instruction", "summary", "other"];
const path = (memory) => `/v1/memories/${id(memory.id)}`;

/** Pins or unpins at once, and takes it back if the server refuses. */
export function pin(memory, list) {
  const undo = list.replace(memory.id, { ...memory, pinned: !memory.pinned });
  return attempt(() => (memory.pinned ? remove(`${path(memory)}/pin`) : post(`${path(memory)}/pin`)), undo);
}

/** `said`: with the messages that say it. */
export function forget(memory, list, said = false) {
  const undo = list.replace(memory.id, null);
  holdBack(t("forgetting"), {
    undo,
    finish: (leaving) => remove(`${path(memory)}${query({ said: said || null })}`, undefined, { keepalive: leaving }),
    done: (receipt) => t(said ? "forgotten.said" : "forgotten", { memories: receipt.memories + receipt.derived, messages: receipt.messages, vectors: receipt.vectors, entries: receipt.index_entries }),
  });
}

/** `quietly`: what is shown stays until there is something newer, and who is elsewhere on the page stays there. */
export async function memoryPanel(panel, name, { list, close, act, open, quietly = false }) {
  if (!quietly) fill(panel, h("p", { class: "quiet" }, t("loading")));
  const again = () => memoryPanel(panel, name, { list, close, act, open });
  let why;
  let tellings;
  try {
    [why, tellings] = await Promise.all([get(`/v1/memories/${id(name)}/why`), get(`/v1/memories/${id(name)}/repeats`)]);
  } catch (problem) {
    if (panel.dataset.id !== name) return;
    if (quietly && problem.status === 404) { close(); return; } // forgotten elsewhere
    fill(panel, heading(close), problem.status === 404 ? h("p", { role: "alert" }, t("memory.gone")) : trouble(problem, again));
    return;
  }
  if (panel.dataset.id !== name) return; // another one was opened in the meantime
  const { memory } = why;
  const changed = (now) => { list.replace(name, now); again(); };
  const words = text(memory, changed);
  fill(panel, heading(close), words.element, actions(memory, { changed, act, again, edit: words.edit }), facts(memory, why),
    provenance(why), uses(why.used_in), related(t("history"), why.history, open), related(t("derived"), why.derived, open),
    repeats(memory, tellings.repeats, again), scores(why.last_scores));
  if (!quietly) $("h2", panel).focus();
}

const heading = (close) => h("div", { class: "panel-head" }, h("h2", { tabindex: "-1" }, t("memory.one")), iconButton("close", t("close"), close));

function text(memory, changed) {
  const shown = h("p", { class: "memory-text" }, memory.text);
  if (state.readOnly) return { element: shown, edit: null };
  const field = h("textarea", { rows: 4, "aria-label": t("text"), value: memory.text });
  const type = h("select", {}, TYPES.map((each) => h("option", { value: each, selected: each === memory.type }, t(`type.${each}`))));
  const theme = h("input", { value: memory.theme ?? "", autocomplete: "off" });
  const tags = h("input", { value: memory.tags.join(", "), autocomplete: "off" });
  const labelled = (name, input) => h("label", { class: "field" }, t(name), input);
  /** Only what was changed is sent: a text that is sent anew is embedded anew. */
  const changes = () => Object.fromEntries([
    ["text", field.value, memory.text], ["type", type.value, memory.type], ["theme", theme.value.trim() || null, memory.theme],
    ["tags", tags.value.split(/[,，]/).map((tag) => tag.trim()).filter(Boolean), memory.tags],
  ].filter(([, now, before]) => String(now ?? "") !== String(before ?? "")));
  const form = h("form", { class: "stack", hidden: true, onsubmit: (event) => {
    event.preventDefault();
    attempt(async () => { changed(await patch(path(memory), changes())); tell(t("saved")); });
  } }, field, labelled("filter.type", type), labelled("filter.theme", theme), labelled("tags", tags), h("div", { class: "row end" }, h("button", { type: "button", onclick: () => swap(false) }, t("cancel")), h("button", { class: "primary" }, t("save"))));
  const edit = h("button", { onclick: () => swap(true) }, t("edit"));
  const swap = (editing) => {
    form.hidden = !editing;
    shown.hidden = edit.hidden = editing;
    (editing ? field : edit).focus();
  };
  return { element: h("div", {}, shown, form), edit };
}

function actions(memory, { changed, act, again, edit }) {
  if (state.readOnly) return null;
  const button = (words, work, kind = "") => h("button", { class: kind, onclick: work }, words);
  const turn = (verb) => () => attempt(async () => { changed(await post(`${path(memory)}/${verb}`)); tell(t(`done.${verb}`)); });
  return h("div", { class: "row" }, edit,
    button(t(memory.pinned ? "unpin" : "pin"), async () => { await act.pin(memory); again(); }),
    memory.status === "active" ? button(t("archive"), turn("archive")) : null,
    memory.status === "archived" ? button(t("restore"), turn("restore")) : null,
    button(t("forget"), () => act.forget(memory), "danger"),
    memory.source_message_id ? button(t("forget.said"), () => act.forget(memory, true), "danger") : null);
}

const share = (part) => `${number(Math.round(part * 100))} %`;

function facts(memory, why) {
  const fact = (label, value) => (value === null || value === undefined || value === "" ? null : [h("dt", {}, label), h("dd", {}, value)]);
  const embedding = why.embedding.error ? `${t(`embedding.${why.embedding.state}`)}: ${why.embedding.error}` : t(`embedding.${why.embedding.state}`);
  return h("dl", { class: "fact-list" },
    fact(t("filter.type"), t(`type.${memory.type}`)), fact(t("filter.theme"), memory.theme), fact(t("tags"), memory.tags.join(", ")),
    fact(t("key"), memory.key), fact(t("filter.status"), t(`status.${memory.status}`)), fact(t("source"), t(`source.${memory.source}`)),
    fact(t("confidence"), share(memory.confidence)), fact(t("importance"), share(memory.importance)),
    fact(t("created"), moment(memory.created_at)), fact(t("expires"), memory.expires_at && moment(memory.expires_at)),
    fact(t("used"), memory.access_count ? t("used.times", { count: memory.access_count, when: ago(memory.last_accessed) }) : t("used.never")),
    fact(t("embedding"), embedding));
}

function provenance({ message, conversation, memory }) {
  if (!message && !conversation) return null;
  const where = address("conversations", { id: conversation?.id ?? message.session_id, message: memory.source_message_id ?? "" });
  return h("section", {}, h("h3", {}, t("comes.from")),
    message ? h("blockquote", {}, h("p", {}, message.content), h("footer", {}, `${message.name ?? t(`role.${message.role}`)} · ${moment(message.created_at)}`)) : null,
    h("a", { href: where }, message ? t("open.conversation") : conversation.title ?? t("open.conversation")));
}

/** The replies of chats that were made with it; the ones that name it are marked. */
function uses(replies) {
  if (!replies.length) return null;
  return h("section", {}, h("h3", {}, t("used.in")), h("ul", { class: "plain" }, replies.map((each) =>
    h("li", {}, h("a", { href: address("conversations", { id: each.session_id, message: each.message_id }) }, each.text),
      h("span", { class: "facts" }, ` ${t(each.cited ? "used.cited" : "used.shown", { reference: each.reference })} · ${ago(each.at)}`)))));
}

function related(title, memories, open) {
  if (!memories.length) return null;
  return h("section", {}, h("h3", {}, title), h("ul", { class: "plain" }, memories.map((each) =>
    h("li", {}, h("button", { class: "link", onclick: () => open(each) }, each.text), h("span", { class: "facts" }, ` ${t(`status.${each.status}`)} · ${ago(each.created_at)}`)))));
}

function repeats(memory, tellings, again) {
  if (tellings.length < 2) return null;
  const undo = (telling) => h("button", { class: "quiet", onclick: () => attempt(async () => { await post(`${path(memory)}/repeats/${id(telling.id)}/undo`); tell(t("saved")); again(); }) }, t("separate"));
  return h("section", {}, h("h3", {}, t("tellings", { count: tellings.length })), h("ul", { class: "plain" }, tellings.map((telling) =>
    h("li", {}, telling.text, " ", h("span", { class: "facts" }, ago(telling.at)), telling.first || state.readOnly ? null : undo(telling)))));
}

function scores(last) {
  if (!last) return null;
  return h("section", {}, h("h3", {}, t("last.scores")),
    ["relevance", "recency", "importance", "total"].map((name) => bar(t(`score.${name}`), last[name])),
    h("p", { class: "facts" }, moment(last.computed_at)));
}
