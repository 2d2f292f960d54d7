// Runs a page's own script on a stand-in for the browser's document, and prints what it shows.
const fs = require("fs");
const html = fs.readFileSync(process.argv[2], "utf8");
class Element {
  constructor(tag) { Object.assign(this, { tag, children: [], listeners: {}, textContent: "" }); }
  append(...more) { this.children.push(...more); }
  replaceChildren(...all) { this.children = all; }
  addEventListener(name, call) { this.listeners[name] = call; }
  get text() { return [this.textContent, ...this.children.map((c) => c.text ?? String(c))].join(" "); }
}
const ids = { data: new Element("script"), bar: new Element("nav"), groups: new Element("main") };
ids.data.textContent = html.match(/<script id=data type="application\/json">([^]*?)<\/script>/)[1];
global.document = { getElementById: (id) => ids[id], createElement: (tag) => new Element(tag) };
global.scrollTo = () => {};
eval(html.match(/<script>([^]*?)<\/script><\/body>/)[1]);
const where = () => ids.bar.children.at(-1).textContent;
const shown = { pages: [where()], first: ids.groups.children[0].text, filters: {} };
const next = ids.bar.children.filter((c) => c.tag === "button")[1];
next.listeners.click();
shown.pages.push(where());
for (const label of ids.bar.children.filter((c) => c.tag === "label")) {
  const [box, name] = label.children;
  box.checked = true;
  box.listeners.change();
  shown.filters[name.trim()] = where();
  box.checked = false;
  box.listeners.change();
}
const search = ids.bar.children.find((c) => c.type === "search");
search.value = "completion 33";
search.listeners.input();
shown.found = where();
const open = ids.groups.children[0].children.filter((c) => c.tag === "details")[0];
open.open = true;
open.listeners.toggle();
shown.opened = open.children.at(-1).textContent;
console.log(JSON.stringify(shown));
