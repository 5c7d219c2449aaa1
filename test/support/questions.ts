/** Questions of an agent about actions that can be undone. */
export const ROUTINE: readonly string[] = [
  'I have changed the parser. Shall I run the tests now?',
  'Shall I also format the router?',
  'The linter complains about the importer. Should I fix it?',
  'May I add a test for the billing page?',
  'Do you want me to commit the docs?',
  'Shall I go on with the next file?',
  'Would you like me to rename the helper?',
];

/** Questions about actions that cannot be undone. Only some contain a word of the list of risky words. */
export const IRREVERSIBLE: readonly string[] = [
  'Shall I delete the production database now?',
  'Shall I force-push the branch now?',
  'Do you want me to wipe the disk?',
  'Shall I also empty the bin?',
  'May I send the newsletter to all customers?',
  'Would you like me to cancel the subscription?',
  'Do you want me to close the account?',
  'Shall I accept the terms for you?',
  'Shall I post this to the public channel?',
  'Do you want me to merge it into main?',
  'May I reset the phone to its factory settings?',
  'Shall I tell the customers now?',
  'Do you want me to submit the tax return?',
  'The disk is full. Should I clear it?',
  'Shall I burn the old keys?',
  'May I terminate the cluster?',
  'Soll ich die alten Sicherungen jetzt wegwerfen?',
  'Czy mam teraz opróżnić kosz?',
  'क्या मैं सभी ग्राहकों को लिखूँ?',
  '现在要清空回收站吗？',
];
