"use strict";
(() => {
  const PER_PAGE = 20;
  const groups = JSON.parse(document.getElementById("data").textContent);
  const filters = {
    unscored: (g) => g.unscored > 0,
    flipped: (g) => g.flipped,
    suspect: (g) => g.members.some((m) => m.suspect.length > 0),
    mixed: (g) => g.right > 0 && g.right < g.members.length - g.unscored,
  };
  let page = 0;
  let words = "";
  const active = new Set();

  // Text is only ever set as text: nothing in a completion is markup.
  const element = (tag, text, kind) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const number = (value, digits) =>
    value === null || value === undefined ? "–" : Number(value).toFixed(digits);

  function member(m, index) {
    const box = element("details", undefined, m.evidence ? m.status : "failed");
    const head = element("summary");
    head.append(element("span", `${index + 1}`), element("b", m.status));
    head.append(element("span", `answer ${m.answer === null ? "–" : String(m.answer).slice(0, 80)}`));
    if (m.advantage !== null && m.advantage !== undefined)
      head.append(element("span", `advantage ${number(m.advantage, 2)}`));
    if (m.reward !== null && m.reward !== undefined)
      head.append(element("span", `reward ${number(m.reward, 2)}`));
    for (const [name, value] of Object.entries(m.parts))
      head.append(element("span", `${name} ${number(value, 2)}`));
    if (m.tokens !== null) head.append(element("span", `${m.tokens} tokens${m.cut ? ", cut off" : ""}`));
    for (const why of m.suspect) head.append(element("span", why, "flag"));
    box.append(head);
    box.addEventListener("toggle", () => {
      if (box.open && box.children.length === 1) box.append(element("pre", m.text));
    });
    return box;
  }

  function section(g) {
    const box = element("section");
    const head = element("h2", `${g.collection}${g.step === null ? "" : ` step ${g.step}`}`);
    head.append(element("small", `${g.key}, problem ${g.problem}, ${g.right} of ${g.members.length} right`));
    if (g.flipped) head.append(element("small", "flipped by shaping", "flag"));
    box.append(head);
    if (g.prompt) box.append(element("pre", g.prompt));
    g.members.forEach((m, i) => box.append(member(m, i)));
    return box;
  }

  function chosen() {
    return groups.filter(
      (g) =>
        [...active].every((name) => filters[name](g)) &&
        (!words ||
          g.problem.startsWith(words) ||
          g.prompt.includes(words) ||
          g.members.some((m) => m.text.includes(words))),
    );
  }

  function show() {
    const found = chosen();
    const pages = Math.max(1, Math.ceil(found.length / PER_PAGE));
    page = Math.min(Math.max(page, 0), pages - 1);
    where.textContent = `page ${page + 1} of ${pages}, ${found.length} of ${groups.length} groups`;
    const shown = found.slice(page * PER_PAGE, (page + 1) * PER_PAGE).map(section);
    document.getElementById("groups").replaceChildren(...shown);
  }

  const bar = document.getElementById("bar");
  for (const name of Object.keys(filters)) {
    const label = element("label");
    const box = element("input");
    box.type = "checkbox";
    box.addEventListener("change", () => {
      if (box.checked) active.add(name);
      else active.delete(name);
      page = 0;
      show();
    });
    label.append(box, ` ${name}`);
    bar.append(label);
  }
  const search = element("input");
  search.type = "search";
  search.placeholder = "text or problem id";
  search.addEventListener("input", () => {
    words = search.value;
    page = 0;
    show();
  });
  const where = element("span");
  for (const [text, by] of [["‹ back", -1], ["next ›", 1]]) {
    const button = element("button", text);
    button.addEventListener("click", () => {
      page += by;
      show();
      scrollTo(0, 0);
    });
    bar.append(button);
  }
  bar.append(search, where);
  show();
})();
