// The frame: who is looking, where they are, and the states nobody should overlook.
import { Problem, get, post } from "./lib/api.js";
import { askFor } from "./lib/dialog.js";
import { $, fill, h, settled } from "./lib/dom.js";
import { icon } from "./lib/icons.js";
import { help, listen } from "./lib/keys.js";
import { attempt, holding, tell, warn } from "./lib/notices.js";
import { here } from "./lib/router.js";
import { state } from "./lib/state.js";
import { whenChanged } from "./lib/tabs.js";
import { said, t } from "./lib/words.js";
import { chat } from "./views/chat.js";
import { controls } from "./views/controls.js";
import { conversations } from "./views/conversations.js";
import { lab } from "./views/lab.js";
import { memories } from "./views/memories.js";
import { operations } from "./views/operations.js";

const VIEWS = { memories, lab, chat, conversations, controls, operations };
let open = null;
let shown = null;

function show() {
  const { view, params } = here();
  const name = view in VIEWS ? view : "memories";
  shown = name;
  open?.leave?.();
  open = VIEWS[name](params);
  fill($("main"), open.element);
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === name) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "center" });
    }
    else link.removeAttribute("aria-current");
  }
  document.title = `${t(`nav.${name}`)} · Recollect`;
}

/** What was opened within a place is gone back from, and forth to, without building the place anew. */
function moved() {
  const { view, params } = here();
  if (view !== shown || !open.element.isConnected || !open.follow?.(params)) show();
}

function frame() {
  document.documentElement.lang = state.language;
  if (state.theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = state.theme;
  document.documentElement.classList.toggle("incognito", Boolean(state.incognito));
  const views = Object.keys(VIEWS).filter((name) => (name !== "operations" || state.admin) && (name !== "chat" || !state.readOnly));
  fill($("header"), h("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); $("main").focus(); } }, t("skip")),
    h("h1", {}, h("a", { href: "#/memories" }, "Recollect")),
    h("nav", { "aria-label": t("nav") }, views.map((name) => h("a", { href: `#/${name}`, "data-view": name }, t(`nav.${name}`)))),
    h("div", { class: "row tools" }, spaceChoice(), state.readOnly ? h("span", { class: "badge" }, t("read.only")) : incognitoButton(), languageButton(), themeButton(), keysButton(),
      state.token ? h("button", { class: "quiet", onclick: () => { state.setToken(null); location.reload(); } }, t("log.out")) : null));
  fill($("#banner"), ...(state.incognito ? [h("p", {}, h("strong", {}, `● ${t("incognito.on")} `), t("incognito.why")), h("button", { onclick: endIncognito }, t("incognito.end"))] : []));
}

const incognitoButton = () => h("button", { class: "quiet", "aria-pressed": String(Boolean(state.incognito)), onclick: () => (state.incognito ? endIncognito() : startIncognito()) }, t("incognito"));

const startIncognito = () => attempt(async () => {
  const started = await post("/v1/memory/incognito/start");
  state.setIncognito(started.session_id);
  again();
});

const endIncognito = () => attempt(async () => {
  await post("/v1/memory/incognito/end", { session_id: state.incognito });
  state.setIncognito(null);
  again();
  tell(t("incognito.ended"));
});

const languageButton = () => h("button", { class: "quiet", lang: state.language === "zh" ? "en" : "zh", onclick: () => { state.setLanguage(state.language === "zh" ? "en" : "zh"); again(); } }, state.language === "zh" ? "English" : "中文");

function themeButton() {
  const next = { auto: "dark", dark: "light", light: "auto" }[state.theme];
  return h("button", { class: "icon theme-button", title: t("theme.next", { theme: t(`theme.${next}`) }), "aria-label": t("theme.label", { theme: t(`theme.${state.theme}`) }), onclick: () => { state.setTheme(next); frame(); mark(); $(".theme-button").focus(); } }, icon(state.theme));
}

const keysButton = () => h("button", { class: "icon keys-button", title: t("keys.show"), "aria-label": t("keys.show"), onclick: help }, "?");

/** Which memory is looked at, for whoever has more than one. */
function spaceChoice() {
  const spaces = [...new Set([state.me?.space, ...(state.me?.spaces ?? [])])].filter(Boolean);
  if (spaces.length < 2) return null;
  return h("select", { class: "space", "aria-label": t("space.label"), onchange: (event) => { state.setSpace(event.target.value); location.reload(); } },
    spaces.map((each) => h("option", { value: each, selected: each === state.me.space }, each)));
}

const mark = () => document.querySelector(`nav a[data-view="${here().view}"]`)?.setAttribute("aria-current", "page");
const again = () => { frame(); show(); };

async function logIn() {
  state.ask = null; // one question at a time
  const token = await askFor(t("log.in"), t("log.in.why"), t("log.in"), { secret: true });
  if (token) { state.setToken(token); location.reload(); } else state.ask = logIn;
}

/** A request did not get through. If the server is gone the page says so, asks for it, and shows what is new when it is back. */
const away = settled(async () => {
  const reached = () => fetch("/healthz", { signal: AbortSignal.timeout(5000) }).then((answer) => answer.ok, () => false);
  if (state.gone || await reached()) return;
  state.gone = true;
  fill($("#away"), t("away"));
  while (!await reached()) await new Promise((ready) => { setTimeout(ready, 2000); });
  state.gone = false;
  fill($("#away"));
  open?.refresh?.();
}, 50);

async function start() {
  state.ask = logIn;
  state.away = away;
  try {
    state.me = await get("/v1/me");
  } catch (problem) {
    frame();
    if (problem instanceof Problem && problem.status === 401) return;
    fill($("main"), h("div", { class: "empty", role: "alert" }, h("h2", {}, t("no.server")), h("p", {}, said(problem)), h("button", { onclick: () => location.reload() }, t("again"))));
    return;
  }
  frame();
  show();
  listen();
  window.addEventListener("hashchange", moved);
  window.addEventListener("unhandledrejection", (event) => { warn(event.reason); });
  window.addEventListener("incognito-changed", () => { frame(); mark(); });
  whenChanged(refresh);
  document.addEventListener("visibilitychange", refresh);
  window.addEventListener("focus", refresh);
}

/** Another tab, or somebody else, may have changed what this one shows. What can still be undone here is waited for. */
const refresh = settled(() => {
  if (document.hidden) return;
  if (holding()) setTimeout(refresh, 1000);
  else open?.refresh?.();
}, 200);

start();
