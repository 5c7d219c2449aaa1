/** The logo: a caret, and text that may come after it. */
export function Logo() {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <rect x="3" y="3" width="3" height="18" rx="1.5" />
      <rect x="9" y="6" width="12" height="3" rx="1.5" opacity=".85" />
      <rect x="9" y="11" width="9" height="3" rx="1.5" opacity=".55" />
      <rect x="9" y="16" width="5" height="3" rx="1.5" opacity=".3" />
    </svg>
  );
}
