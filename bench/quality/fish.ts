import { fish, inventPeople, SECRETS } from './fishing.ts';

/** Prints how much an app that fishes in the memories of invented people reads, at 36,000 requests each. */
const people = inventPeople();
console.log('| person | planted secrets read | own sentences read |');
console.log('|---|--:|--:|');
for (const [place, own] of people.entries()) {
  const others = people.filter((_, other) => other !== place).flat();
  const { secrets, read, sentences } = await fish(own, others, { beginnings: 4000, requests: 36_000 });
  console.log(`| ${place + 1} | ${secrets.length} of ${SECRETS.length} | ${read} of ${sentences} |`);
  for (const secret of secrets) console.log(`read: ${secret}`);
}
