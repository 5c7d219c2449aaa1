/** The sections of the document, in their order. */
export const TAGS = {
  Connections: 'Link a user of an app to a Forecue account, with PKCE, and end the link.',
  Predictions: 'Ask for a completion, cancel it, and tell what became of it.',
  Usage: 'What an app has used and what it costs.',
  Accounts: 'Sign up, log in, and manage keys.',
  Recording: 'Push events and read them back, by session.',
  'Own connections': 'The apps that may use an account, seen by its owner.',
  Health: 'For balancers.',
} as const;

export type Tag = keyof typeof TAGS;
