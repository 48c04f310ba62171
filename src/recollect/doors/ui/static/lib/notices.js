// Short notices at the edge of the page; some can be undone, until they are final.
import { $, h } from "./dom.js";
import { iconButton } from "./icons.js";
import { said, t } from "./words.js";

const SECONDS = 8;
const pending = new Set();

/** Whether something is held back that can still be undone. */
export const holding = () => pending.size > 0;

function show(words, { kind = "done", action = null, seconds = SECONDS } = {}) {
  const notice = h("div", { class: `notice ${kind}` }, h("span", {}, words), action);
  // The same words again take the place of the earlier ones: a server that is away fails many requests at once.
  const same = (each) => each.className === notice.className && each.textContent === words && !$(".undo", each);
  [...$("#notices").children].filter(same).forEach((each) => each.remove());
  notice.append(iconButton("close", t("close"), () => notice.remove()));
  $("#notices").append(notice);
  const timer = setTimeout(() => notice.remove(), seconds * 1000);
  return () => { clearTimeout(timer); notice.remove(); };
}

export const tell = (words) => show(words);
export const warn = (problem) => {
  if (problem.name !== "AbortError") show(typeof problem === "string" ? problem : said(problem), { kind: "bad", seconds: 15 });
};

/** What went wrong, said where the answer would stand, with a way to ask again. */
export const trouble = (problem, again) => [h("p", { class: "bad-words", role: "alert" }, said(problem)),
  problem.status === 404 ? null : h("p", {}, h("button", { onclick: again }, t("again")))];

/** Runs `work`; what goes wrong is shown, and `otherwise` takes back what was shown too early. */
export async function attempt(work, otherwise) {
  try {
    return await work();
  } catch (problem) {
    warn(problem);
    otherwise?.();
    return undefined;
  }
}

/**
 * Something for good, held back for a few seconds in which it can be undone. A page that is closed meanwhile finishes it: who
 * said "forget" and left meant it.
 */
export function holdBack(words, { finish, undo, done }) {
  let close = () => {};
  const task = { finish };
  const timer = setTimeout(async () => {
    pending.delete(task);
    close();
    const receipt = await attempt(() => finish(false), undo);
    if (receipt !== undefined) tell(done(receipt));
  }, SECONDS * 1000);
  const back = h("button", { class: "undo", onclick: () => {
    clearTimeout(timer);
    pending.delete(task);
    close();
    undo();
  } }, t("undo"));
  pending.add(task);
  close = show(words, { action: back, seconds: SECONDS + 1 });
}

window.addEventListener("pagehide", () => {
  for (const task of pending) task.finish(true);
  pending.clear();
});
