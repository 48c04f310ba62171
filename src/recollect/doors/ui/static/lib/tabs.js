// Tabs of one browser tell each other that something was changed. What it was, each asks the server itself.
const channel = new BroadcastChannel("recollect");

export const changed = () => channel.postMessage("changed");
export const whenChanged = (act) => channel.addEventListener("message", act);
