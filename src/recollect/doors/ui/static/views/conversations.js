// Conversations, word for word: browse, search, go on with one, take one along, delete one.
import { get, id, post, query, remove, send } from "../lib/api.js";
import { $, download, fill, h, settled } from "../lib/dom.js";
import { iconButton, searchField } from "../lib/icons.js";
import { attempt, holdBack, trouble } from "../lib/notices.js";
import { address, amend, opening } from "../lib/router.js";
import { state } from "../lib/state.js";
import { VirtualList } from "../lib/virtual.js";
import { ago, moment, t } from "../lib/words.js";
import { remembered } from "./chat.js";

const MOST_MESSAGES = 1000;
const LEAST_RELEVANT = 0.3;

export function conversations(params) {
  let wanted = params.q ?? "";
  const count = h("p", { class: "count", role: "status" });
  const empty = h("div", { class: "empty", hidden: true });
  const panel = h("aside", { class: "panel wide", "aria-label": t("conversation") });
  const list = new VirtualList({ label: t("nav.conversations"), rowHeight: 64, fetch: fetchPage, draw: row, open: (item) => open(item.session_id ?? item.id, item.message), arrived });

  async function fetchPage(offset, limit) {
    if (!wanted) return get(`/v1/conversations${query({ limit, offset })}`);
    if (offset) return { items: [], total: list.total };
    const { hits } = await post("/v1/memories/search", { query: wanted, typing: true, looking: true, kinds: ["message"], limit: 50, min_relevance: LEAST_RELEVANT });
    return { items: hits.map((hit) => ({ ...hit, message: hit.id })), total: hits.length };
  }

  function arrived(total) {
    count.textContent = t(wanted ? "found" : "conversations.count", { count: total });
    empty.hidden = total > 0;
    list.element.hidden = total === 0;
    if (!total) fill(empty, ...teach(wanted));
  }

  async function open(session, message) {
    opening({ id: session, message: message ?? "" }, panel.dataset.id);
    panel.dataset.id = session;
    list.mark(message && wanted ? message : session);
    panel.classList.add("open");
    await transcript(panel, session, message, { close, list });
  }

  function close() {
    amend({ id: "", message: "" });
    delete panel.dataset.id;
    list.mark(null);
    panel.classList.remove("open");
    fill(panel);
    list.rows.get(list.current)?.focus();
  }

  /** Going back or forth among what was opened here leaves the list where it stands. */
  function follow(now) {
    if ((now.q ?? "") !== wanted) return false;
    if (now.id && now.id !== panel.dataset.id && !state.incognito) open(now.id, now.message);
    else if (!now.id && panel.dataset.id) close();
    return true;
  }

  /** Nothing came: that is said where the list would be, with a way to ask again. */
  function failed(problem) {
    list.element.hidden = true;
    empty.hidden = false;
    count.textContent = "";
    fill(empty, trouble(problem, load));
  }

  const load = () => list.load().catch(failed);
  const search = settled(() => { amend({ q: wanted }); load(); });
  const element = h("section", { class: "memories", onkeydown: (event) => { if (event.key === "Escape" && panel.dataset.id) close(); } },
    h("div", { class: "stack" }, h("form", { class: "toolbar", role: "search", onsubmit: (event) => event.preventDefault() },
      searchField({ value: wanted, placeholder: t("conversations.hint"), oninput: (event) => { wanted = event.target.value.trim(); search(); } })),
    count, empty, list.element), panel);
  load().then(() => { if (params.id && !state.incognito) open(params.id, params.message); });
  return { element, refresh: () => attempt(() => (list.element.hidden ? list.load() : list.refresh())), follow, leave: () => list.close() };
}

function teach(wanted) {
  if (state.incognito) return [h("h2", {}, t("empty.incognito")), h("p", {}, t("empty.incognito.why"))];
  if (wanted) return [h("h2", {}, t("empty.search")), h("p", {}, t("empty.search.why"))];
  return [h("h2", {}, t("empty.conversations")), h("p", {}, t("empty.conversations.why")), state.readOnly ? null : h("p", {}, h("a", { href: "#/chat" }, t("empty.conversations.chat")))];
}

function row(item) {
  if (item.message) return h("div", { class: "row-text" }, h("p", { class: "row-content" }, item.text), h("p", { class: "facts" }, `${t(`role.${item.role}`)} · ${ago(item.created_at)}`));
  return h("div", { class: "row-text" }, h("p", { class: "row-content" }, item.title ?? item.id),
    h("p", { class: "facts" }, [t("messages.count", { count: item.message_count }), ago(item.updated_at), item.expires_at ? t("expires.on", { when: moment(item.expires_at) }) : null].filter(Boolean).join(" · ")));
}

async function transcript(panel, session, message, { close, list }) {
  fill(panel, h("p", { class: "quiet" }, t("loading")));
  let talk;
  let uses;
  try {
    [talk, { uses }] = await Promise.all([get(`/v1/conversations/${id(session)}?limit=${MOST_MESSAGES}`), get(`/v1/uses${query({ session_id: session })}`)]);
  } catch (problem) {
    if (panel.dataset.id !== session) return;
    const words = problem.status === 404 ? h("p", { role: "alert" }, t("conversation.gone")) : trouble(problem, () => transcript(panel, session, message, { close, list }));
    fill(panel, h("div", { class: "panel-head" }, h("h2", {}, t("conversation")), iconButton("close", t("close"), close)), words);
    return;
  }
  if (panel.dataset.id !== session) return;
  const drop = () => {
    close();
    const undo = list.replace(session, null);
    holdBack(t("forgetting.conversation"), {
      undo,
      finish: (leaving) => remove(`/v1/conversations/${id(session)}`, undefined, { keepalive: leaving }),
      done: (receipt) => t("forgotten.conversation", { messages: receipt.messages, memories: receipt.memories + receipt.derived }),
    });
  };
  const beside = (message) => uses.filter((use) => use.message_id === message.id);
  fill(panel, h("div", { class: "panel-head" }, h("h2", { tabindex: "-1" }, talk.title ?? session), iconButton("close", t("close"), close)),
    h("div", { class: "row" }, state.readOnly ? null : h("a", { class: "button", href: address("chat", { session }) }, t("resume")),
      h("button", { onclick: () => attempt(async () => download(`${session}.jsonl`, await (await send(`/v1/export${query({ session_id: session })}`)).blob())) }, t("export")),
      state.readOnly ? null : h("button", { class: "danger", onclick: drop }, t("delete"))),
    talk.summary ? h("blockquote", {}, talk.summary) : null,
    h("div", { class: "log", tabindex: "0", "aria-label": t("conversation") }, talk.messages.map((each) => h("article", { class: `turn ${each.role}${each.id === message ? " marked" : ""}`, "data-id": each.id },
      h("p", { class: "said" }, each.content), h("p", { class: "facts" }, [each.name ?? t(`role.${each.role}`), moment(each.created_at), each.partial ? t("chat.partial") : null].filter(Boolean).join(" · ")), beside(each).length ? remembered(beside(each)) : null))));
  $(".marked", panel)?.scrollIntoView({ block: "center" });
  $("h2", panel).focus();
}
