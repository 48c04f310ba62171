// What the whole page knows: who is looking, at which space, in which tongue, and whether this tab is incognito.
const kept = (store, name) => {
  try { return store.getItem(`recollect.${name}`); } catch { return null; }
};
const keep = (store, name, value) => {
  try {
    if (value === null || value === "") store.removeItem(`recollect.${name}`);
    else store.setItem(`recollect.${name}`, value);
  } catch { /* a browser that keeps nothing still shows everything */ }
};

export const state = {
  me: null,
  token: kept(sessionStorage, "token"),
  space: kept(sessionStorage, "space"),
  incognito: kept(sessionStorage, "incognito"),
  language: kept(localStorage, "language") ?? (navigator.language.startsWith("zh") ? "zh" : "en"),
  theme: kept(localStorage, "theme") ?? "auto",
  /** Set by the frame: opens the log-in when the server asks who this is. */
  ask: null,
  /** Set by the frame: looks whether the server is gone when a request did not reach it. */
  away: null,

  get readOnly() { return this.me?.write_mode === "read_only"; },
  get admin() { return this.me?.role === "admin"; },

  setToken(token) { this.token = token || null; keep(sessionStorage, "token", this.token); },
  setSpace(space) { this.space = space || null; keep(sessionStorage, "space", this.space); },
  setIncognito(session) { this.incognito = session || null; keep(sessionStorage, "incognito", this.incognito); },
  setLanguage(language) { this.language = language; keep(localStorage, "language", language); },
  setTheme(theme) { this.theme = theme; keep(localStorage, "theme", theme === "auto" ? null : theme); },
};
