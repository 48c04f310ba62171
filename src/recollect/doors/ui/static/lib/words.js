// The page's own words, in English and Chinese. A word that is missing in one is a fault the tests find.
import en from "../words/en.js";
import zh from "../words/zh.js";
import { state } from "./state.js";

const TONGUES = { en, zh };

/** A phrase, with its blanks filled in: `t("found", { count: 3 })`. A blank like `{count:day|days}` is the one word or the other. */
export function t(name, blanks = {}) {
  const phrase = TONGUES[state.language][name] ?? en[name] ?? name;
  return phrase.replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (_, blank, one, many) => {
    const value = blanks[blank] ?? "";
    if (many !== undefined) return value === 1 ? one : many;
    return typeof value === "number" ? number(value) : String(value);
  });
}

/** Whether there is a phrase of this name: what a server calls its own may be new to the page. */
export const known = (name) => name in en;

/** Dates and numbers as the browser's own kind of the language has them: 24 hours and the day first for whoever reads en-GB. */
const locale = () => navigator.languages.find((each) => each.split("-")[0] === state.language) ?? (state.language === "zh" ? "zh-CN" : "en");
export const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
export const listed = (words) => new Intl.ListFormat(locale(), { type: "conjunction" }).format(words);
export const moment = (iso) => new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(iso));
export const day = (iso) => new Intl.DateTimeFormat(locale(), { dateStyle: "medium" }).format(new Date(iso));
export const clock = (iso) => new Intl.DateTimeFormat(locale(), { timeStyle: "short" }).format(new Date(iso));
export const number = (value) => new Intl.NumberFormat(locale(), { maximumFractionDigits: 2 }).format(value);

const STEPS = [["year", 31_536_000], ["month", 2_592_000], ["day", 86_400], ["hour", 3600], ["minute", 60]];

/** How long ago, in words. */
export function ago(iso) {
  const seconds = (new Date(iso) - Date.now()) / 1000;
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  const [unit, size] = STEPS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  return words.format(unit === "second" ? 0 : Math.round(seconds / size), unit);
}

/** What a server says by a name that the page has words for; otherwise `otherwise`. */
export const named = (name, otherwise, blanks) => (known(name) ? t(name, blanks) : otherwise);

/** Their messages name the field or the limit: they are shown beside the words for what is wrong. */
const PARTICULAR = new Set(["invalid_input", "not_allowed", "conflict", "too_large", "unsupported"]);

/** The server speaks English; elsewhere its code is said, and its message where that has the particulars. */
function inTongue({ code, message }) {
  if (state.language === "en" || !known(`error.${code}`)) return message;
  return PARTICULAR.has(code) ? `${t(`error.${code}`)}（${message}）` : t(`error.${code}`);
}

/** A problem as a person can use it. */
export function said(problem) {
  if (problem.code === "network") return t(`problem.${problem.message}`);
  const words = inTongue(problem);
  return problem.id && problem.status >= 500 ? `${words} (${problem.id})` : words; // of those the log knows more
}
