"use strict";
// An element with attributes and children; strings become text, so nothing of a record is ever read as markup.
function make(name, attributes = {}, ...children) {
  const svg = ["svg", "rect", "text", "title"].includes(name) && attributes.svg !== false;
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false && key !== "svg") node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}
