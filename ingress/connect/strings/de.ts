import { EMAIL_MAX, PASSWORD_MAX, PASSWORD_MIN } from '../../../shared/schemas/limits.ts';
import { html } from '../../pages/html.ts';
import type { Texts } from './en.ts';

export const de: Texts = {
  lang: 'de',
  email: 'E-Mail',
  password: 'Passwort',
  passwordHint: `Mindestens ${PASSWORD_MIN} Zeichen.`,
  inviteCode: 'Einladungscode',
  faults: {
    invalid_credentials: 'Diese Adresse und dieses Passwort gehören nicht zusammen.',
    email_taken: 'Mit dieser Adresse gibt es schon ein Konto. Melden Sie sich an.',
    invite_required: 'Dieser Einladungscode ist unbekannt oder schon verwendet.',
    too_many_tries: 'Zu viele Versuche im Moment. Warten Sie ein wenig und versuchen Sie es noch einmal.',
    email: 'Geben Sie eine E-Mail-Adresse ein, wie name@example.com.',
    email_too_long: `Bitte eine Adresse von höchstens ${EMAIL_MAX} Zeichen.`,
    password:
      'Dieses Passwort ist zu verbreitet oder leicht zu erraten, wie Ihre E-Mail-Adresse oder eine einfache Folge. Besser sind mehrere Wörter.',
    password_too_short: `Bitte mindestens ${PASSWORD_MIN} Zeichen.`,
    password_too_long: `Bitte höchstens ${PASSWORD_MAX} Zeichen.`,
  },
  signIn: {
    title: 'Anmelden',
    heading: 'Melden Sie sich an',
    lead: (app) =>
      html`${app} möchte Ihr Forecue-Gedächtnis nutzen. Melden Sie sich an; dann entscheiden Sie.`,
    button: 'Anmelden',
    toSignUp: (link) => html`Neu bei Forecue? ${link('Konto anlegen')}`,
    forgotten: 'Passwort vergessen?',
  },
  signUp: {
    title: 'Konto anlegen',
    heading: 'Legen Sie Ihr Konto an',
    lead: (app) =>
      html`${app} möchte Ihr Forecue-Gedächtnis nutzen. Legen Sie ein Konto an; dann entscheiden Sie.`,
    button: 'Konto anlegen',
    toSignIn: (link) => html`Schon ein Konto? ${link('Anmelden')}`,
  },
  cancel: (app) => html`Abbrechen und zurück zu ${app}`,
  signedInAs: 'Angemeldet als',
  otherAccount: 'Ein anderes Konto nehmen',
  terms: 'Was das heißt',
  allow: 'Erlauben',
  deny: 'Ablehnen',
  backTo: (place) => html`So oder so geht es zurück zu ${place}.`,
  canRevoke: (link) => html`Sie können es ${link('jederzeit widerrufen')}`,
  consent: {
    title: 'Zugriff erlauben',
    heading: (app) => html`Darf ${app} Ihr Gedächtnis nutzen?`,
    shapes: 'Ihr Gedächtnis prägt die Vorhersagen',
    shapesHow:
      'Forecue schlägt in der App vor, wie Sie weiterschreiben, und nutzt dafür Ihr Profil, Ihre Fakten und was Sie zuletzt schrieben. Ein Vorschlag kann davon etwas verraten.',
    noReading: 'Lesen kann sie Ihr Gedächtnis nicht',
    noReadingHow: 'Die App bekommt die Vorschläge, aber weder Ihr Profil noch Fakten oder Texte.',
    learns: 'Aus Vorschlägen kann sie etwas erfahren',
    learnsHow:
      'Die App könnte Anfänge ausprobieren und so Wörter finden, die Sie benutzen, auch Namen; ebenso Wendungen, die Sie in verschiedenen Texten und Sitzungen oder aus Gewohnheit schrieben. Forecue nutzt nie, was es als Passwort oder Schlüssel, als Geldbetrag oder als Angabe zu Gesundheit, Überzeugungen oder Ausweisen erkennt. Dasselbe gilt für Wörter ab sechs Zeichen, die Buchstaben und Ziffern mischen. Wendungen lassen auch lange Zahlen, Adressen und Namen von Konten aus. Texte und Fakten, die Sie als privat markiert haben, bleiben außen vor. Nicht jedes Geheimnis wird erkannt.',
    addsNothing: 'Sie fügt Ihrem Gedächtnis nichts hinzu',
    addsNothingHow: 'Was die App an Forecue schickt, wird dort nicht aufgehoben.',
    afterRevoke: 'Von da an wird Ihr Gedächtnis für die App nicht mehr genutzt.',
    scope: 'Was sie nutzen darf',
    all: 'Ihr Profil, Ihre Fakten und was Sie schrieben',
    facts: 'Nur Ihr Profil und Ihre Fakten',
    projects: 'Nur aus diesen Projekten',
    projectsHint: 'Namen, durch Kommas getrennt. Leer: aus allen.',
    until: 'Bis',
    days: (days) => (days === null ? 'Sie es widerrufen' : days === 1 ? 'morgen' : `heute in ${days} Tagen`),
  },
  program: {
    title: 'Ein Programm hereinlassen',
    unnamed: 'Ein Programm',
    heading: (app) => html`Darf ${app} Ihr Konto nutzen?`,
    nobodyVouches: 'Für diesen Namen bürgt niemand',
    nobodyVouchesHow:
      'So kann sich jedes Programm nennen. Weiter nur, wenn Sie das gerade selbst begonnen haben.',
    belongsTo: (host) => html`Es gehört zu ${host}`,
    belongsToHow: 'Dort beschreibt es sich selbst. Weiter nur, wenn Sie diese Seite kennen.',
    endsUnused: (days) => `Es endet von selbst, wenn das Programm ${days} Tage lang nicht benutzt wurde.`,
    scope: 'Was es darf',
    scopes: {
      read: 'Ihr Gedächtnis lesen: Profil, Fakten, was Sie schrieben, und Vorhersagen',
      predict: 'Fragen, was Sie antworten würden; das kostet Token Ihres Tages',
      write: 'Ihrem Gedächtnis etwas hinzufügen und es ändern',
      forget: 'Aus Ihrem Gedächtnis löschen',
      decide: 'Ihre Entscheidungen melden, als hätten Sie hier entschieden',
      record: 'Worte als Ihre eigenen aufzeichnen, aus denen Forecue lernt, wie Sie schreiben',
    },
    onThisMachine: (host) => `einem Programm auf diesem Rechner (${host})`,
    ofScheme: (scheme) => `dem Programm, das ${scheme} öffnet`,
  },
  forgotten: {
    title: 'Passwort vergessen?',
    lead: 'Wir schicken Ihnen einen Link, mit dem Sie ein neues wählen. Er gilt einmal und eine Stunde lang.',
    button: 'Link schicken',
    askOperator: 'Dieser Server verschickt keine E-Mails. Bitten Sie den Betreiber um einen Link.',
    mailed: 'Sehen Sie in Ihr Postfach',
    onItsWay: (email) =>
      html`Wenn ${email} ein Konto hat, ist ein Link dorthin unterwegs. Er gilt einmal und eine Stunde lang.`,
    nothing: 'Nichts angekommen? Sehen Sie im Spam-Ordner nach.',
    another: 'Eine andere Adresse versuchen',
  },
  newPassword: {
    title: 'Ein neues Passwort wählen',
    lead: (email) => html`Für ${email}. Es meldet Sie überall ab, wo Sie angemeldet sind.`,
    revokeKeys: 'Auch meine Schlüssel widerrufen',
    revokeKeysWhy: 'Falls jemand anders das alte Passwort kennen könnte.',
    button: 'Das neue Passwort speichern',
    ended: 'Dieser Link gilt nicht mehr',
    endedWhy:
      'Ein Link zu einem neuen Passwort gilt einmal und nur eine Zeit lang. Dieser wurde schon verwendet, ist abgelaufen oder unvollständig.',
    askAgain: 'Um einen neuen Link bitten',
    changed: 'Ihr Passwort ist geändert',
    signedOut: 'Sie sind überall abgemeldet. Melden Sie sich von jetzt an mit dem neuen Passwort an.',
    close: 'Sie können diese Seite schließen und dorthin zurückkehren, wo Sie herkamen.',
    toConsole: 'In der Konsole anmelden',
    orClose: 'Oder schließen Sie diese Seite und kehren Sie dorthin zurück, wo Sie herkamen.',
  },
  newEmail: {
    title: 'E-Mail-Adresse bestätigen',
    lead: (email) => html`Bestätigen Sie, dass ${email} die Adresse Ihres Forecue-Kontos ist.`,
    button: 'Das ist meine Adresse',
    confirmed: 'Ihre Adresse ist bestätigt',
    signIn: (email) =>
      html`Melden Sie sich von jetzt an mit ${email} an. Wo Sie angemeldet sind, bleiben Sie es.`,
    close: 'Sie können diese Seite schließen.',
    ended: 'Dieser Link gilt nicht mehr',
    endedWhy:
      'Ein Link, der eine Adresse bestätigt, gilt einmal und eine Stunde lang. Dieser wurde schon verwendet, ist abgelaufen oder unvollständig.',
    askAgain: 'Fordern Sie auf der Seite „Konto“ der Konsole einen neuen an.',
  },
  closed: {
    expired: 'Diese Anfrage ist abgelaufen',
    expiredWhy: (app) =>
      html`Eine Anfrage, sich zu verbinden, wartet nur kurze Zeit. Gehen Sie zurück zu ${app} und beginnen Sie von vorn.`,
    answered: 'Diese Anfrage ist schon beantwortet',
    answeredWhy: 'Sie wurde schon erlaubt oder abgelehnt. Nach einem zweiten Klick zählt der erste.',
    goBack: (app) =>
      html`Wenn ${app} nicht von selbst weiterging, gehen Sie zurück und beginnen Sie von vorn.`,
  },
  refused: {
    title: 'Dieses Programm kann nicht herein',
    text: 'Was es über sich sagt, ist nicht in Ordnung oder abgelaufen. Entfernen Sie es dort, wo Sie es hinzugefügt haben, und fügen Sie es neu hinzu.',
    details: (reason) => `Für seinen Hersteller oder Betreiber: ${reason}`,
  },
  reload: 'Die Seite neu laden',
  requestId: (id) => `Nummer der Anfrage: ${id}`,
  errors: {
    not_found: [
      'Diese Anfrage gibt es nicht',
      'Vielleicht ist die Adresse unvollständig. Gehen Sie zurück zur App, die Sie herschickte, und beginnen Sie von vorn.',
    ],
    method_not_allowed: ['Diese Adresse nimmt nur Formulare ihrer eigenen Seite', ''],
    access_denied: [
      'Diese Seite ist veraltet',
      'Inzwischen hat sich jemand in einem anderen Fenster an- oder abgemeldet, oder dieser Browser lehnt Cookies ab. Nichts wurde geändert.',
    ],
    unreadable: ['Dieses Formular war nicht lesbar', ''],
    rate_limited: [
      'Zu viele Anfragen',
      'Aus Ihrem Netz kamen in kurzer Zeit viele Anfragen. Warten Sie ein wenig und versuchen Sie es noch einmal.',
    ],
    try_later: [
      'Forecue ist gerade nicht erreichbar',
      'Nichts wurde geändert. Versuchen Sie es gleich noch einmal.',
    ],
    defect: [
      'Bei uns ging etwas schief',
      'Es liegt nicht an Ihnen. Gehen Sie zurück zur App und beginnen Sie von vorn.',
    ],
  },
};
