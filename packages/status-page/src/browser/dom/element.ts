/** The possible content of an element. Text becomes a text node, so markup in the name of a virtual machine stays text. */
export type Child = Node | string | null;

/** Attributes by name. `true` is an empty attribute; `false` and undefined leave it out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A new element of HTML. Nothing on this page parses HTML: elements are made by this function, texts by text nodes. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  children: readonly Child[] | string = [],
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  setAttributes(made, attributes);
  append(made, children);
  return made;
}

/** A new element of SVG. */
export function svgElement(tag: string, attributes: Attributes = {}, children: readonly Child[] = []): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(made, attributes);
  append(made, children);
  return made;
}

/** Shows `text`, and touches the document only if it differs, because a screen reader announces each write. */
export function setText(node: Element, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Replaces the content of an element. */
export function fill(node: Element, children: readonly Child[]): void {
  node.replaceChildren(...children.filter((child) => child !== null));
}

function setAttributes(made: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? '' : String(value));
  }
}

function append(made: Element, children: readonly Child[] | string): void {
  if (typeof children === 'string') made.textContent = children;
  else for (const child of children) if (child !== null) made.append(child);
}
