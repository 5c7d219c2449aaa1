import { EMAIL_MAX, PASSWORD_MAX, PASSWORD_MIN } from '../../../shared/schemas/limits.ts';
import { type Html, html } from '../../pages/html.ts';

/** Wraps words in a link. */
type Link = (words: string) => Html;

const message = (title: string, text: string): [title: string, text: string] => [title, text];

/** Every sentence of the pages of `/connect`, in English. `app`, `email` and `host` are isolated names. */
export const en = {
  lang: 'en',
  email: 'E-mail',
  password: 'Password',
  passwordHint: `At least ${PASSWORD_MIN} characters.`,
  inviteCode: 'Invite code',
  faults: {
    invalid_credentials: 'Wrong e-mail address or password.',
    email_taken: 'There is an account with this address. Sign in instead.',
    invite_required: 'This invite code is unknown or was used before.',
    too_many_tries: 'Too many tries at the moment. Wait a little, then try again.',
    email: 'Enter an e-mail address, such as name@example.com.',
    email_too_long: `Use an address of at most ${EMAIL_MAX} characters.`,
    password:
      'This password is too common or easy to guess, as your e-mail address or a plain sequence is. Several words are better.',
    password_too_short: `Use at least ${PASSWORD_MIN} characters.`,
    password_too_long: `Use at most ${PASSWORD_MAX} characters.`,
  },
  signIn: {
    title: 'Sign in',
    heading: 'Sign in to continue',
    lead: (app: Html) => html`${app} asks to use your Forecue memory. Sign in first; then you decide.`,
    button: 'Sign in',
    toSignUp: (link: Link) => html`New to Forecue? ${link('Create an account')}`,
    forgotten: 'Forgot your password?',
  },
  signUp: {
    title: 'Create an account',
    heading: 'Create your account',
    lead: (app: Html) =>
      html`${app} asks to use your Forecue memory. Create an account first; then you decide.`,
    button: 'Create account',
    toSignIn: (link: Link) => html`Have an account already? ${link('Sign in')}`,
  },
  cancel: (app: Html) => html`Cancel and go back to ${app}`,
  signedInAs: 'Signed in as',
  otherAccount: 'Use another account',
  terms: 'What this means',
  allow: 'Allow',
  deny: 'Deny',
  backTo: (place: Html) => html`Either way you go back to ${place}.`,
  canRevoke: (link: Link) => html`You can ${link('revoke this at any time')}`,
  consent: {
    title: 'Allow access',
    heading: (app: Html) => html`Allow ${app} to use your memory?`,
    shapes: 'Your memory shapes its predictions',
    shapesHow:
      'Forecue uses your profile, facts and what you wrote lately to suggest what you type next in the app. A suggestion may reflect what they say.',
    noReading: 'It cannot read your memory as such',
    noReadingHow: 'The app gets the suggestions, and no access to your profile, facts or texts.',
    learns: 'It can learn from suggestions',
    learnsHow:
      'By trying out beginnings, the app could find words that you use, and names are words, too. It could also find phrases that you wrote in different texts and sessions, or by habit. Forecue never uses what it recognises as a password or key, as an amount of money, or as about your health, beliefs or papers. The same holds for words of six characters or more that mix letters and digits. Phrases leave out long numbers, addresses and names of accounts, too. Texts and facts that you tagged private are left out. It does not recognise every secret.',
    addsNothing: 'It adds nothing to your memory',
    addsNothingHow: 'What the app sends to Forecue is not stored there.',
    afterRevoke: 'From then on your memory is not used for the app any more.',
    scope: 'What it may use',
    all: 'Your profile, facts and what you wrote',
    facts: 'Only your profile and facts',
    projects: 'Only from these projects',
    projectsHint: 'Names, separated by commas. Empty: from all.',
    until: 'Until',
    days: (days: number | null) =>
      days === null ? 'you revoke it' : days === 1 ? 'tomorrow' : `${days} days from now`,
  },
  program: {
    title: 'Let a program in',
    unnamed: 'A program',
    heading: (app: Html) => html`Let ${app} use your account?`,
    nobodyVouches: 'Nobody vouches for this name',
    nobodyVouchesHow: 'Any program can call itself so. Go on only if you started this yourself just now.',
    belongsTo: (host: Html) => html`It belongs to ${host}`,
    belongsToHow: 'It describes itself there. Go on only if you know it.',
    endsUnused: (days: number) => `It ends by itself when the program has not been used for ${days} days.`,
    scope: 'What it may do',
    scopes: {
      read: 'Read your memory: your profile, facts, what you wrote, and predictions',
      predict: 'Ask what you would reply, which uses your tokens of the day',
      write: 'Add to your memory, and change it',
      forget: 'Delete from your memory',
      decide: 'Report your decisions as if you had made them here',
      record: 'Record words as your own, from which Forecue learns how you write',
    },
    onThisMachine: (host: string) => `a program on this machine (${host})`,
    ofScheme: (scheme: string) => `the program that opens ${scheme}`,
  },
  forgotten: {
    title: 'Forgot your password?',
    lead: 'We mail you a link to choose a new one. It works once, within an hour.',
    button: 'Mail me a link',
    askOperator: 'This server sends no e-mail. Ask whoever runs it for a link to a new password.',
    mailed: 'Check your inbox',
    onItsWay: (email: Html) =>
      html`If ${email} has an account, a link to a new password is on its way there. It works once, within an hour.`,
    nothing: 'Nothing arrived? Check the spam folder.',
    another: 'Try another address',
  },
  newPassword: {
    title: 'Choose a new password',
    lead: (email: Html) => html`For ${email}. It signs you out wherever you are signed in.`,
    revokeKeys: 'Revoke my keys too',
    revokeKeysWhy: 'If somebody else may know the old password.',
    button: 'Save the new password',
    ended: 'This link has ended',
    endedWhy:
      'A link to a new password works once, and for a limited time. This one was used before, has expired, or is incomplete.',
    askAgain: 'Ask for a new link',
    changed: 'Your password is changed',
    signedOut: 'You are signed out everywhere. Sign in with the new password from now on.',
    close: 'You can close this page, and go back to where you came from.',
    toConsole: 'Sign in to the console',
    orClose: 'Or close this page, and go back to where you came from.',
  },
  newEmail: {
    title: 'Confirm your e-mail address',
    lead: (email: Html) => html`Confirm that ${email} is the address of your Forecue account.`,
    button: 'That is my address',
    confirmed: 'Your address is confirmed',
    signIn: (email: Html) => html`Sign in with ${email} from now on. Where you are signed in, you stay so.`,
    close: 'You can close this page.',
    ended: 'This link has ended',
    endedWhy:
      'A link that confirms an address works once, within an hour. This one was used before, has expired, or is incomplete.',
    askAgain: 'Ask for a new one on the page Account of the console.',
  },
  closed: {
    expired: 'This request has expired',
    expiredWhy: (app: Html) =>
      html`A request to connect waits for a short while only. Go back to ${app} and start again.`,
    answered: 'This request was already answered',
    answeredWhy: 'It was allowed or denied before. After a second click, the first one counts.',
    goBack: (app: Html) => html`If ${app} did not go on by itself, go back to it and start again.`,
  },
  refused: {
    title: 'This program cannot be let in',
    text: 'What it says of itself is not in order, or has expired. Remove it where you added it, and add it again.',
    details: (reason: string) => `For whoever makes or runs it: ${reason}`,
  },
  reload: 'Load the page again',
  requestId: (id: string) => `Request id: ${id}`,
  errors: {
    not_found: message(
      'There is no such request',
      'The address may be incomplete. Go back to the app that sent you here and start again.',
    ),
    method_not_allowed: message('This address takes forms of its own page only', ''),
    access_denied: message(
      'This page is out of date',
      'Somebody signed in or out in another window since, or this browser refuses cookies. Nothing was changed.',
    ),
    unreadable: message('This form could not be read', ''),
    rate_limited: message(
      'Too many requests',
      'Many requests came from your network within a short time. Wait a little, then try again.',
    ),
    try_later: message(
      'Forecue is not available at the moment',
      'Nothing was changed. Try again in a moment.',
    ),
    defect: message(
      'Something went wrong on our side',
      'It is not your fault. Go back to the app and start again.',
    ),
  },
};

export type Texts = typeof en;
