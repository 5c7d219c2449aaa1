/** Sentences of ordinary mail and chat that the benches type. */
export const SENTENCES = [
  'Thank you for your message and for the quick reply',
  'I am looking forward to hearing from you soon',
  'Please let me know if you have any questions',
  'Could you please send me the latest version of the report',
  'I will get back to you as soon as possible',
  'Let me know what you think about it',
  'I hope you are doing well and had a nice weekend',
  'Would it be possible to move the meeting to next week',
  'Please find attached the document that you asked for',
  'I would like to know when you have time for a call',
  'Thanks a lot for your help with this',
  'Do you want me to run the tests before I push',
];
