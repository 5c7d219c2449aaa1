/** Words that a statement has whatever its value is. */
export const COMMON = wordSet(`
  i me my mine we us our ours you your yours he she they them their it its this that these those there
  a an the and or but so as at by for from in into of on onto to with within without over under per
  am is are was were be been being do does did have has had will would can could should may might must
  always usually mostly mainly generally normally now still only ever never no not also just please too very all any
  other others else everything anything whatever everywhere year day days time one ones give get make keep keeps
  use uses used using prefer prefers preferred like likes liked love loves want wants run runs work works write writes
  take takes live lives call called name named switched moved changed gone went says said person user set choice
  instead rather than longer before more most almost while when where who which what home main mainly favourite favorite
  new own because since mind here good better best code`);

/** Words that turn a statement into its opposite. */
export const NEGATIONS = wordSet(`
  no not never none nothing neither nor without cannot dont doesnt didnt isnt arent wont cant stopped avoid avoids except
  kein keine keinen nicht nie niemals ohne ne pas jamais sans ni sin nunca non mai senza`);
/** Words for numbers, days and months, and what orders them. */
export const NUMBERS = wordSet(`
  zero one two three four five six seven eight nine ten eleven twelve first second third once twice half
  monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
  january february march april may june july august september october november december
  before after`);

function wordSet(words: string): Set<string> {
  return new Set(words.trim().split(/\s+/));
}
