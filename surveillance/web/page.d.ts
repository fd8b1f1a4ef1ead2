// An element of a page that a script asks for by id or selector. What kind of element it is
// stands in the template, which the type checker does not read; so it has the members of all
// the kinds that the pages use, and a member that none of them has is an error.
interface PageElement extends HTMLElement,
  Pick<HTMLInputElement, "value" | "checked" | "disabled" | "required" | "files" | "min" | "max"
    | "select" | "setSelectionRange" | "selectionStart" | "selectionEnd" | "setCustomValidity" | "reportValidity"
    | "readOnly" | "placeholder"> {
  readonly options: HTMLOptionsCollection;
  readonly selectedOptions: HTMLCollectionOf<HTMLOptionElement>;
  selectedIndex: number;
  readonly elements: Record<string, PageElement> & Iterable<PageElement>;
  readonly tBodies: HTMLCollectionOf<HTMLTableSectionElement>;
  reset(): void;
  requestSubmit(): void;
  open: boolean;
  returnValue: string;
  showModal(): void;
  close(returnValue?: string): void;
  href: string;
  src: string;
  alt: string;
  dateTime: string;
  type: string;
  name: string;
  currentTime: number;
  readonly readyState: number;
  readonly paused: boolean;
  readonly error: MediaError | null;
  play(): Promise<void>;
  pause(): void;
  load(): void;
}

interface ParentNode {
  querySelector(selectors: string): PageElement;
  querySelectorAll(selectors: string): NodeListOf<PageElement>;
}

// Every element of the pages is one of HTML or of SVG; both have these.
interface Element extends HTMLOrSVGElement {
  closest(selectors: string): PageElement;
}

interface Document {
  getElementById(elementId: string): PageElement;
}
