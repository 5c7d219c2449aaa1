/** Outlines of 24 × 24 units, drawn with the colour of the text. */
const PATHS = {
  inbox: 'M4 13h4l2 3h4l2-3h4M4 13 6.5 5h11L20 13v5a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1z',
  memory: 'm12 4 8 4-8 4-8-4zM4 12l8 4 8-4M4 16l8 4 8-4',
  decisions: 'm4 13 4 4 8-9M12 16l1 1 7-9',
  overview: 'M5 20v-8M12 20V4M19 20v-5',
  try: 'M9 4h2a1 1 0 0 1 1 1v14a1 1 0 0 1-1 1H9M15 4h-2a1 1 0 0 0-1 1M15 20h-2a1 1 0 0 1-1-1',
  start: 'M12 4v11m-4-4 4 4 4-4M5 20h14',
  connections: 'm9 15 6-6M10.5 6.5 12 5a4.2 4.2 0 0 1 6 6l-1.5 1.5M13.5 17.5 12 19a4.2 4.2 0 0 1-6-6l1.5-1.5',
  keys: 'M14.5 13.5a5 5 0 1 0-4-4L4 16v4h4v-2h2v-2h2zM16 8h.01',
  apps: 'M5 5h5v5H5zM14 5h5v5h-5zM5 14h5v5H5zM14 14h5v5h-5z',
  account: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM5 20a7 7 0 0 1 14 0',
  docs: 'M6 4h10a2 2 0 0 1 2 2v14H8a2 2 0 0 1-2-2zM6 18a2 2 0 0 1 2-2h10M10 8h4',
  leave: 'M14 4h4a1 1 0 0 1 1 1v14a1 1 0 0 1-1 1h-4M10 8l-4 4 4 4M6 12h9',
  search: 'M11 17a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM15.5 15.5 20 20',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  pin: 'M9 4h6l-1 6 3 3v1H7v-1l3-3zM12 14v6',
  forget: 'M5 7h14M10 7V5h4v2M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5',
  close: 'm6 6 12 12M18 6 6 18',
  keyboard: 'M4 7h16v10H4zM7 10.5h.01M10.5 10.5h.01M14 10.5h.01M17 10.5h.01M8 14h8',
} as const;
export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
