import { plainOf, toLatin } from '../../text/plain.ts';

const PEOPLE =
  '(?:customers?|clients?|users|subscribers|followers|everyone|everybody|them all|members|guests|contacts|investors|press|team|boss|list|channel)';
const MESSAGES =
  '(?:e-?mails?|mails?|newsletters?|messages?|letters?|invitations?|invites?|reply|replies|reminders?|announcements?|sms|dms?|applications?|offers?|quotes?)';
/** Names of shared branches, such as `main`, but not file names such as `main.ts`. */
const SHARED_BRANCH =
  '(?:main|master|trunk|prod|live|upstream|(?:the |a )?default branch)(?![./-]?\\w| (?:function|file|page|module|class|loop|menu))';
/** Matches up to 60 characters within one sentence and line. */
const SAME_CLAUSE = '[^.?!\\n]{0,60}';

/**
 * Patterns of risky actions, such as deleting or paying, in several languages. They match texts normalised by
 * `plainOf`.
 */
const RISKY_WORDS = [
  // Destroying data
  String.raw`\b(?:delet(?:e[sd]?|ing|ion)|drop(?:s|ped|ping)?|truncat(?:e[sd]?|ing)|wip(?:e[sd]?|ing)|eras(?:e[sd]?|ing)|destroy(?:s|ed|ing)?|purg(?:e[sd]?|ing)|overwrit(?:e|es|ing|ten)|shred(?:s|ded|ding)?)\b`,
  String.raw`\brm -\w*[rf]|\bforce[- ]?push|--force\b|\breset --hard\b|\broll(?:ing|ed)? ?back\b|\bfactory[ -]?reset\b|\b(?:empty|clear) the (?:\w+ )?(?:bin|trash|disk|inbox)\b`,
  String.raw`losch|vernicht|supprim|effac|ecras|\b(?:borr|elimin|destru|apag|exclu|cancell)(?:ar|are|ir|a|o)\b|\b(?:usun|skasu|smaz|vymaz|wyczysc)|rader|slett|poist|torol|torl|sterg|xoa|hapus|sil(?:ey|mek|sin)|verwijder`,
  'удал|сотре|стере|видал|διαγραψ|διαγραφ|מחק|מחוק|מחיק|حذف|امسح|हटा|मिटा|ลบ|删|刪|清空|销毁|銷毀|削除|消去|삭제|지우|지울',
  // Deploying and publishing
  String.raw`\b(?:re)?deplo[yi]|\bproduction\b|\bgo(?:ing)? live\b|\b(?:publish|releas|terminat|revok|unsubscrib)(?:e[sd]?|ing)?\b|\b(?:tweet|post) (?:it|this|that|the \w+|a \w+)\b(?! (?:test|request)s?\b)|\bmake ${SAME_CLAUSE}\bpublic\b|\bsubmit ${SAME_CLAUSE}\b(?:to|form|return|application)\b`,
  String.raw`ausroll|veroffentlich|\b(?:des(?:plieg|pleg)|rilasci|pubb?lic(?:o|a|ar|are)\b|publi(?:e|er|ez)\b)`,
  'разверн|деплой|опублик|部署|发布|發布|デプロイ|リリース|公開|배포|게시',
  // Merging into a shared branch
  String.raw`\b(?:merg|push|fusion|zusammenfuhr)\w*\b${SAME_CLAUSE}\b${SHARED_BRANCH}|\b${SHARED_BRANCH}${SAME_CLAUSE}\b(?:merg|push|zusammenfuhr)\w*|\bmerg(?:e[sd]?|ing) (?:#?\d|${SAME_CLAUSE}\b(?:pull request|merge request|pr|mr|branch)\b)`,
  '(?:смерж|слить|влить)|合并到|合併到|合并进|マージ|병합',
  // Sending to people
  String.raw`\b(?:send|forward|resend)(?:s|ing)?\b${SAME_CLAUSE}\b(?:${MESSAGES}|${PEOPLE})\b|\b(?:send|forward)(?:s|ing)? (?:it|this|that|them) (?:over |on |off )?to (?!(?:the|an?|std(?:out|err|in)|localhost|dev|tests?|port|null)\b)\p{L}|\b(?:e-?mail|mail|text|message|write|reply|tell|notify|inform|invite|announce)(?:ing)?\b (?:it |this |that |back )?(?:to )?(?:all |the |every |our |your |my |new ){0,3}${PEOPLE}\b`,
  String.raw`\b(?:ver|ab|zu)?(?:schick|send)(?:e[nt]?)\b|\bbenachrichtig|\benvo(?:ie[rz]?|yer|yez)\b|\benvi(?:o|ar|a|amos)\b|\binvi(?:o|are|amo)\b|\bmand(?:o|ar|are)\b|\b(?:verstu|stuur|sturen)|\bwys(?:l|yl)|\bskicka|\bodesl|\bposl(?:at|i)|\bkuldj|\btrimit|\bgonder|\blahet|\bkirim|\bgui (?:thu|e-?mail|tin)`,
  'отправ|разосл|надісл|στειλ|אשלח|לשלוח|ارسل|أرسل|ابعث|भेज|ส่ง(?:อีเมล|ข้อความ)|发送|發送|群发|寄给|送信|送りま|보내|보낼|발송',
  // Paying, ordering and cancelling
  String.raw`\b(?:pay(?:s|ing|ments?)?|paid|purchas(?:e[sd]?|ing)|buy(?:ing)?|refund(?:s|ed|ing)?|invoices?|transfer(?:s|red|ring)?|wire|money|donat(?:e|ing))\b|\b(?:plac(?:e|ing) (?:the|an|your|this) order|book(?:ing)? (?:the|a) (?:flight|hotel|room|table|ticket|trip)s?)\b|\b(?:cancel|close) (?:the |your |my |this )?(?:subscription|order|booking|appointment|account|contract|flight)\b`,
  String.raw`bezahl|uberweis|kundig|\brechnung(?:en)?\b|virement|\bfactures?\b|\bpayer\b|\bpag(?:ar|are|o|a)\b|\bfactura\b|\bfattura\b|\bzaplac|betal|จาย`,
  'оплат|перевед|перечисл|πληρωσ|לשלם|دفع|付款|支付|转账|轉賬|送金|支払|결제|송금',
  // Granting access, credentials, contracts
  String.raw`\b(?:credentials?|passwords?|secrets?|tokens?|api keys?|private keys?|permissions?|sudo|root access|chmod|grant(?:s|ed|ing)?|access rights?)\b|\bgiv(?:e|ing)\b${SAME_CLAUSE}\baccess\b|\b(?:make|add|invite)\b${SAME_CLAUSE}\b(?:admin(?:istrator)?|owner|collaborator|maintainer)\b|\bshar(?:e|ing) (?:the|this|my|your) [^.?!\n]{0,40}\bwith (?!the (?:rest|other))`,
  String.raw`\b(?:legal(?:ly)?|contracts?|liabilit(?:y|ies)|nda|sign(?:ed|ing)? (?:the|this|an?)|lawsuits?|terms of service|licen[cs]e agreement|accept the terms)\b`,
  String.raw`zugriff|zugang|freigeb|\bacces\b|\bacceso\b|\baccesso\b|\bacesso\b|\btoegang\b|\bdostep\b|доступ|权限|權限|授权|授權|権限|권한`,
].map((words) => new RegExp(stripDiacritics(words), 'u'));

/** Removes diacritics from a pattern, as `plainOf` removes them from texts. */
function stripDiacritics(pattern: string): string {
  return pattern.normalize('NFKD').replaceAll(/\p{M}/gu, '').normalize('NFC');
}

export function isRisky(text: string): boolean {
  const plain = plainOf(text);
  const readings = [plain, toLatin(plain)];
  return RISKY_WORDS.some((words) => readings.some((reading) => words.test(reading)));
}
