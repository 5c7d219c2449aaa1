import assert from 'node:assert/strict';
import { isRisky } from '../../../../shared/domain/replies/risk.ts';

describe('irreversible words', () => {
  const IRREVERSIBLE_BY_KIND = {
    'destroying data': [
      'Shall I delete it?',
      'rm -rf build',
      'Soll ich die Datenbank löschen?',
      '¿Lo quiere borrar?',
      'Удалить базу?',
      '要删除数据库吗？',
      '데이터베이스를 삭제할까요?',
      'Ska jag radera databasen?',
      'Skal jeg slette databasen?',
      'Poistanko tietokannan?',
      'Töröljem az adatbázist?',
      'Șterg baza de date?',
      'Mám vymazať databázu?',
    ],
    'deploying and publishing': [
      'git push --force?',
      'Deploy now?',
      'Push to production?',
      'Publish the post?',
      'Shall I post it on LinkedIn?',
      'Should we go live?',
      'Make the repository public?',
      'Soll ich jetzt ausrollen?',
      'Soll ich es deployen?',
      'Darf ich das Paket veröffentlichen?',
      'Je déploie maintenant ?',
      '¿Despliego la nueva versión?',
      'Pubblico il pacchetto?',
      'Развернуть сейчас?',
      '今すぐデプロイしますか？',
      '现在发布吗？',
    ],
    'merging into the main branch': [
      'Merge into main?',
      'Shall I merge the pull request?',
      'Is it OK to merge #123?',
      'May I push it to master?',
      'Soll ich in main mergen?',
      '¿Hago el merge a main?',
      'Je fusionne la branche dans main ?',
      'Смержить в main?',
      '合并到主分支吗？',
    ],
    'sending to people': [
      'Send the e-mail to all customers?',
      'Shall I reply to the client?',
      'Should I notify all users now?',
      'May I forward the message to Ann?',
      'Shall I send him the invitation?',
      'Shall I send it to Ana?',
      'Should I forward this over to Bob now?',
      'Soll ich die E-Mail an alle Kunden senden?',
      'Soll ich die Einladungen verschicken?',
      "J'envoie le message aux clients ?",
      '¿Envío el correo a los clientes?',
      'Envio o e-mail a todos?',
      "Invio l'e-mail ai clienti?",
      'Zal ik de mail versturen?',
      'Wysłać wiadomość do klientów?',
      'Отправить письмо всем клиентам?',
      '要给所有客户发送邮件吗？',
      'メールを送信しますか？',
      '메일을 보낼까요?',
      'هل أرسل البريد؟',
    ],
    'paying and ordering': [
      'Transfer 5 €?',
      'Pay the invoice?',
      'Shall I place the order?',
      'Should I book the flight?',
      'May I cancel the subscription?',
      'Soll ich die Rechnung zahlen?',
      'Je règle la facture ?',
      '¿Pago la factura?',
      'Pago a conta?',
    ],
    'granting access': [
      'Grant Ann access?',
      'Shall I make Bob an admin?',
      'Should I share the folder with them?',
      'Add him as a collaborator?',
      'Soll ich ihr Zugriff geben?',
      "Je lui donne l'accès ?",
      '¿Le doy acceso?',
      'Дать ему доступ?',
      '授予他权限吗？',
    ],
  };
  for (const [kind, texts] of Object.entries(IRREVERSIBLE_BY_KIND))
    it(`a question about ${kind} is judged irreversible in several languages`, () => {
      assert.deepEqual(
        texts.filter((text) => !isRisky(text)),
        [],
      );
    });

  it('irreversible words are recognised despite look-alike, full-width and invisible characters', () => {
    for (const text of [
      'Shall I dеlеtе it?',
      'Shall I dεlετε it?',
      'Shall I ԁeӏete it?',
      'Shall I de\u200blete it?',
      'Shall I de\u00ad\u2060\ufeffl\u{e0020}ete it?',
      'Shall I ｄｅｌｅｔｅ it?',
      'Shall I 𝐝𝐞𝐥𝐞𝐭𝐞 it?',
      'Shall I dé̃lete it?',
      'Shall I del&#x65;te it?',
      'У\u200bдалить базу?',
    ])
      assert.ok(isRisky(text), text);
  });

  it('routine questions are not judged irreversible', () => {
    const texts = [
      'Which colour?',
      'Shall I add a test?',
      'pnpm or npm?',
      'Shall I open the page?',
      'Use platinum?',
      'Is it the third column?',
      'Shall I merge the two helpers?',
      'Should I fix the main function in main.ts?',
      'Is the branch up to date with main?',
      'Shall I push the branch?',
      'Shall I post-process the output?',
      'Should the form send the request twice?',
      'Shall I send it to the queue?',
      'Shall I send that to stdout?',
      'Shall I validate the e-mail address?',
      'Do you want a button that sends the form?',
      'Shall I add a column for the message?',
      'In which order?',
      'Shall I share the helper between the files?',
      'Should the live preview be on?',
      'Soll ich die Tests ausführen?',
      'Je lance les tests ?',
      '¿Ejecuto las pruebas?',
      'Запустить тесты?',
      '要运行测试吗？',
      'テストを実行しますか？',
    ];
    assert.deepEqual(texts.filter(isRisky), []);
  });
});
