"use strict";
// Sorting and filtering the tables of a sweep. Without it they stand in the order of the sweep.
(() => {
  const element = (name, text) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const by = (row, column) => row.cells[column].dataset.by;
  // Numbers by their size, before what is none; words by their letters, and numbers in them by their size.
  const compare = (a, b) => {
    const [x, y] = [a, b].map(text => text === "" || text === "-" ? NaN : Number(text));
    if (!isNaN(x) && !isNaN(y)) return x - y;
    if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
    return a.localeCompare(b, "en", { numeric: true });
  };
  for (const table of document.querySelectorAll("table.sorts")) {
    const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
    const isMissing = row => column => ["", "-"].includes(by(row, column));
    heads.forEach((head, column) => {
      const button = element("button", head.textContent);
      button.type = "button";
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const isDown = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
        const order = (a, b) => {
          // What has no value is last, whichever way.
          const [left, right] = [a, b].map(row => isMissing(row)(column));
          if (left || right) return left - right;
          return compare(by(a, column), by(b, column)) * (isDown ? -1 : 1);
        };
        body.append(...[...rows].sort(order));
      });
    });
    const filters = table.closest(".scroll").previousElementSibling, what = table.dataset.what, chosen = new Map();
    const shown = element("output");
    shown.setAttribute("aria-live", "polite");
    const filter = () => {
      for (const row of rows) row.hidden = [...chosen].some(([column, value]) => by(row, column) !== value);
      shown.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length} ${what} shown`;
    };
    heads.forEach((head, column) => {
      const values = [...new Set(rows.map(row => by(row, column)))].sort(compare);
      if (!("filter" in head.dataset) || values.length < 2 || values.length > 50) return;
      const label = element("label", `${head.textContent} `), choice = element("select");
      // What is chosen from is called as in the table.
      const called = value => rows.find(row => by(row, column) === value).cells[column].textContent.trim();
      choice.append(new Option("all", ""), ...values.map((value, at) => new Option(called(value), String(at))));
      choice.addEventListener("change", () => {
        choice.value === "" ? chosen.delete(column) : chosen.set(column, values[Number(choice.value)]);
        filter();
      });
      label.append(choice);
      filters.append(label);
    });
    if (filters.children.length) {
      filters.append(shown);
      filters.hidden = false;
      filter();
    }
  }
})();
