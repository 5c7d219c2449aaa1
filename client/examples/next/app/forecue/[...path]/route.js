import { createRelay } from 'forecue/connect';

/** The page calls this route, which holds the key. A real app looks up the user in its own session. */
let relay;

export function POST(request) {
  relay ??= createRelay({
    baseUrl: process.env.FORECUE_URL ?? 'http://localhost:8080',
    appKey: process.env.APP_KEY,
    userOf: () => 'user-17',
  });
  return relay(request);
}
