/** Boats in formation: the mark of Flotilla. */
export function Mark({ size }: { readonly size: number }) {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden>
      <rect width="32" height="32" rx="7" fill="var(--accent)" />
      <path fill="#fff" d="M7 9h13l-3.2 4H7zM7 15h9.6l-3.2 4H7z" />
      <path
        fill="#fff"
        opacity=".62"
        d="M7 21h6.200L10 25H7zM22.500 9H26l-3.200 4h-3.500zM19.100 15h3.500l-3.200 4h-3.500z"
      />
    </svg>
  );
}
