import type { Tag } from '../http/endpoint.ts';

/** The sections of the document, in their order. */
export const TAGS: Record<Tag, string> = {
  Connections: 'Link a user of an app to a Forecue account, with PKCE, and end the link.',
  Predictions: 'Ask for a completion, cancel it, and tell what became of it.',
  Usage: 'What an app has used and what it costs.',
  Accounts: 'Sign up, log in, and manage keys.',
  Recording: 'Push events and read them back, by session.',
  Memory: 'What is remembered about the account: raw rows, episodes, facts, and its profile.',
  Replies: 'Predict what the person would reply to an agent, and say what they did reply.',
  Jobs: 'Work that goes on whether or not its caller waits.',
  'Own connections': 'The apps that may use an account, seen by its owner.',
  Health: 'For balancers.',
};
