// The page's own words, in English and Chinese. A word that is missing in one is a fault the tests find.
import en from "../words/en.js";
import zh from "../words/zh.js";
import { state } from "./state.js";

const TONGUES = { en, zh };

/** A phrase, with its blanks filled in: `t("found", { count: 3 })`. */
export function t(name, blanks = {}) {
  const phrase = TONGUES[state.language][name] ?? en[name] ?? name;
  return phrase.replace(/\{(\w+)\}/g, (_, blank) => String(blanks[blank] ?? ""));
}

const locale = () => (state.language === "zh" ? "zh-CN" : "en");
export const moment = (iso) => new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(iso));
export const number = (value) => new Intl.NumberFormat(locale(), { maximumFractionDigits: 2 }).format(value);

const STEPS = [["year", 31_536_000], ["month", 2_592_000], ["day", 86_400], ["hour", 3600], ["minute", 60]];

/** How long ago, in words. */
export function ago(iso) {
  const seconds = (new Date(iso) - Date.now()) / 1000;
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  const [unit, size] = STEPS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  return words.format(unit === "second" ? 0 : Math.round(seconds / size), unit);
}

/** A problem as a person can use it. */
export function said(problem) {
  if (problem.code === "network") return t(`problem.${problem.message}`);
  return problem.id ? `${problem.message} (${problem.id})` : problem.message;
}
