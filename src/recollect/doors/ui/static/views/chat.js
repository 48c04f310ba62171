// Talking: the reply as it comes, and beside it the memories it was made with.
import { Problem, events, get, id, query, send } from "../lib/api.js";
import { $, h } from "../lib/dom.js";
import { attempt, warn } from "../lib/notices.js";
import { address, amend, go } from "../lib/router.js";
import { state } from "../lib/state.js";
import { changed } from "../lib/tabs.js";
import { day, named, said, t } from "../lib/words.js";

const EARLIER = 100;

export function chat(params) {
  let session = state.incognito ?? params.session ?? null;
  let running = null;
  const log = h("div", { class: "log", role: "log", "aria-live": "polite", "aria-label": t("nav.chat"), tabindex: "0" });
  const text = h("textarea", { rows: 2, "data-new": true, "data-search": true, placeholder: t("chat.hint"), "aria-label": t("chat.say"), maxlength: 20_000, onkeydown: (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); say(); }
  } });
  const button = h("button", { class: "primary" }, t("send"));
  const fresh = h("button", { class: "quiet", type: "button", hidden: !session || Boolean(state.incognito), onclick: () => go("chat") }, `+ ${t("chat.new")}`);
  const element = h("section", { class: "chat" }, log, state.readOnly ? h("p", { class: "facts" }, t("chat.read.only")) : [
    h("form", { class: "composer", onsubmit: (event) => { event.preventDefault(); running ? running.abort() : say(); } }, text, button),
    state.incognito ? null : h("p", { class: "facts" }, fresh, t("chat.try"), ["chat.try.1", "chat.try.2", "chat.try.3"].map((each) => h("button", { class: "quiet", onclick: () => { text.value = t(each); text.focus(); } }, t(each))))]);

  function put(role, content) {
    const words = h("p", { class: "said" }, content);
    const turn = h("article", { class: `turn ${role}`, "aria-label": t(`role.${role}`) }, words);
    log.append(turn);
    log.scrollTop = log.scrollHeight;
    return { turn, words };
  }

  async function say(message = text.value.trim()) {
    if (!message || running) return;
    $(".welcome", log)?.remove();
    const mine = put("user", message);
    if (text.value.trim() === message) text.value = "";
    const reply = put("assistant", "");
    reply.turn.classList.add("busy");
    running = new AbortController();
    button.textContent = t("stop");
    try {
      const answer = await send("/v1/chat", { method: "POST", body: { message, session_id: session, stream: true }, accept: "text/event-stream", signal: running.signal });
      for await (const [name, data] of events(answer)) hear(name, data, reply);
    } catch (problem) {
      if (running.signal.aborted) reply.turn.append(h("p", { class: "facts" }, t("chat.stopped")));
      else reply.turn.append(h("p", { class: "bad-words", role: "alert" }, said(problem)));
    }
    if ($("[role=alert]", reply.turn)) reply.turn.append(h("button", { onclick: () => { mine.turn.remove(); reply.turn.remove(); say(message); text.focus(); } }, t("again")));
    running = null;
    button.textContent = t("send");
    reply.turn.classList.remove("busy");
  }

  function hear(name, data, reply) {
    if (name === "start") {
      session = data.session_id;
      hush(data.reason === "incognito");
      amend({ session: state.incognito ? "" : session });
      fresh.hidden = Boolean(state.incognito);
      if (!data.kept) reply.turn.append(h("p", { class: "badge" }, t(`chat.${data.reason}`)));
    } else if (name === "memory") reply.turn.append(used(data));
    else if (name === "delta") { reply.words.append(data.text); log.scrollTop = log.scrollHeight; }
    else if (name === "error") reply.turn.append(h("p", { class: "bad-words", role: "alert" }, said(new Problem(data.message, { code: data.code }))));
    else if (name === "done") {
      for (const reference of data.cited) $(`[data-reference="${CSS.escape(reference)}"]`, reply.turn)?.classList.add("cited");
      if (data.partial) reply.turn.append(h("p", { class: "facts" }, t("chat.partial")));
      if (data.command === "incognito_end") hush(false);
      if (!state.incognito) changed();
    }
  }

  /** A chat may become incognito, or stop being it, by a word in it or by the rules of its space: the whole tab says so. */
  function hush(incognito) {
    if (Boolean(state.incognito) === incognito) return;
    state.setIncognito(incognito ? session : null);
    window.dispatchEvent(new Event("incognito-changed"));
  }

  async function resume() {
    const [talk, { uses }] = await Promise.all([get(`/v1/conversations/${id(session)}?limit=${EARLIER}`), get(`/v1/uses${query({ session_id: session })}`)]);
    talk.messages.forEach((message) => {
      const { turn } = put(message.role, message.content);
      const beside = uses.filter((use) => use.message_id === message.id);
      if (beside.length) turn.append(remembered(beside));
    });
  }

  if (session && !state.incognito) attempt(resume);
  else if (!state.readOnly) log.append(h("div", { class: "empty welcome" }, h("h2", {}, t(state.incognito ? "chat.incognito" : "chat.welcome")), h("p", {}, t(state.incognito ? "chat.incognito.why" : "chat.welcome.why"))));
  return { element, leave: () => running?.abort() };
}

/** Who said it, and when; what the page has no words for is said in the server's. */
const whence = ({ said_by: who, created_at: at, source }) => named(`cited.${who}`, null) ? t("cited.on", { who: t(`cited.${who}`), when: day(at) }) : source;

function used(recalled) {
  if (recalled.error) warn(t("chat.memory.failed"));
  if (!recalled.memories.length) return h("p", { class: "facts" }, t("chat.no.memory"));
  return h("details", { class: "used", open: true }, h("summary", {}, t("chat.used", { count: recalled.memories.length })),
    h("ul", { class: "plain" }, recalled.memories.map((each) => h("li", { "data-reference": each.reference },
      h("a", { href: each.kind === "memory" ? address("memories", { id: each.id }) : address("conversations", { id: each.session_id, message: each.id }) }, `[${each.reference}] ${each.content}`),
      h("span", { class: "facts" }, ` ${whence(each)}`),
      each.suspicious ? h("span", { class: "badge error" }, t("suspicious")) : null))));
}

/** What a reply of earlier was made with, as far as it is still remembered. */
export function remembered(uses) {
  return h("details", { class: "used", open: true }, h("summary", {}, t("chat.used", { count: uses.length })),
    h("ul", { class: "plain" }, uses.map((each) => h("li", { class: each.cited ? "cited" : null, "data-reference": each.reference },
      h("a", { href: address("memories", { id: each.id }) }, `[${each.reference}] ${each.text}`)))));
}
