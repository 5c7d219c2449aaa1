/** The shapes of the mark: a caret, and what may come after it. */
const SHAPES =
  '<rect x="3" y="3" width="3" height="18" rx="1.5"/><rect x="9" y="6" width="12" height="3" rx="1.5" opacity=".85"/>' +
  '<rect x="9" y="11" width="9" height="3" rx="1.5" opacity=".55"/><rect x="9" y="16" width="5" height="3" rx="1.5" opacity=".3"/>';

/** The mark in a page, which colours it. */
export const MARK = `<svg viewBox="0 0 24 24" aria-hidden="true">${SHAPES}</svg>`;

/** The mark as a file of its own, for tabs and bookmarks. */
export const FAVICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><style>svg{fill:#2b46b8}' +
  `@media(prefers-color-scheme:dark){svg{fill:#aebcff}}</style>${SHAPES}</svg>`;
