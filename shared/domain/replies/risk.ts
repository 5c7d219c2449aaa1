import { normalForm } from '../../text/words.ts';

/** Words for harm that a later correction does not undo, without accents: in English, and the commonest in other languages. */
const RISKY = new RegExp(
  [
    String.raw`\b(?:delet(?:e[sd]?|ing|ion)|drop(?:s|ped|ping)?|truncat(?:e[sd]?|ing)|wip(?:e[sd]?|ing)|eras(?:e[sd]?|ing)|destroy(?:s|ed|ing)?|purg(?:e[sd]?|ing)|overwrit(?:e|es|ing|ten)|shred(?:s|ded|ding)?)\b`,
    String.raw`\brm -\w*[rf]|\bforce[- ]?push|--force\b|\breset --hard\b|\bdeploy(?:s|ed|ing|ment)?\b|\bproduction\b|\broll(?:ing|ed)? ?back\b|\b(?:publish|releas|terminat|revok|unsubscrib)(?:e[sd]?|ing)?\b`,
    String.raw`\b(?:pay(?:s|ing|ments?)?|paid|purchas(?:e[sd]?|ing)|buy(?:ing)?|refund(?:s|ed|ing)?|invoices?|transfer(?:s|red|ring)?|wire|money)\b`,
    String.raw`\b(?:credentials?|passwords?|secrets?|tokens?|api keys?|private keys?|permissions?|sudo|root access|chmod|grant(?:s|ed|ing)?|access rights?)\b`,
    String.raw`\b(?:legal(?:ly)?|contracts?|liabilit(?:y|ies)|nda|sign(?:ed|ing)? (?:the|this|an?)|lawsuits?|terms of service|licen[cs]e agreement)\b`,
    String.raw`losch|vernicht|bezahl|uberweis|kundig|supprim|effac|ecras|virement|payer\b|\b(?:borr|elimin|destru|apag|exclu|cancell)(?:ar|are|ir|a|o)\b|\bpagar\b|\bpagare\b|\b(?:usun|skasu|smaz|wyczysc|zaplac)`,
    'удал|сотре|стере|оплат|перевед|перечисл|видал|διαγραψ|διαγραφ|πληρωσ|מחק|מחוק|מחיק|לשלם|حذف|امسح|دفع|हटा|मिटा|xoa|hapus|sil(?:ey|mek|sin)|verwijder|betal|ลบ|จาย',
    '删|刪|清空|销毁|銷毀|付款|支付|转账|轉賬|部署|送金|削除|消去|支払|삭제|지우|지울|결제|송금|배포',
  ]
    .join('|')
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, ''),
  'iu',
);

/** Reports whether a prompt or a reply has words for what cannot be undone. */
export function isRisky(text: string): boolean {
  return RISKY.test(normalForm(text, 'NFKD').replaceAll(/\p{M}/gu, ''));
}
