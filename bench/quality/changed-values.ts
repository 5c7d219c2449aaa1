/** A value that changed: what it is of, a question about it, what was said at first and later, each with its value. */
export type ChangedValue = readonly [
  slot: string,
  question: string,
  before: string,
  valueBefore: string,
  now: string,
  valueNow: string,
];

const parse = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split(' | ') as unknown as ChangedValue);

/** The rules are tuned on these. */
export const TUNING = parse(`
work.manager | Who is my manager? | My manager is Priya. | Priya | I report to Tomasz now. | Tomasz
home.rent | How much rent do I pay? | My rent is 950 euros a month. | 950 euros | They raised it, so I pay 1,040 euros for the flat since March. | 1,040 euros
project.database | Which database do we use? | Our database is MySQL 5.7. | MySQL 5.7 | The database is on PostgreSQL 16 after the migration. | PostgreSQL 16
home.city | Where do I live? | I live in Leeds. | Leeds | I moved to Bristol in the spring. | Bristol
work.employer | Who do I work for? | I work at Halden Logistics. | Halden Logistics | I started at Northwind two weeks ago. | Northwind
tool.editor | Which editor do I use? | I use Sublime Text as my editor. | Sublime Text | I switched to Zed for all my code. | Zed
tool.browser | Which browser do I use? | Firefox is my browser. | Firefox | I have gone over to Vivaldi. | Vivaldi
home.phone | What phone do I have? | My phone is a Pixel 6. | Pixel 6 | I got a Fairphone 5, the old one broke. | Fairphone 5
home.car | Which car do I drive? | I drive a Skoda Fabia. | Skoda Fabia | We sold the Skoda and bought a Renault Zoe. | Renault Zoe
habit.gym_day | On which day do I go to the gym? | I go to the gym on Tuesdays. | Tuesdays | The gym is on Thursdays now, Tuesday was too full. | Thursdays
work.standup_time | When is our stand-up? | Our stand-up is at 9:30. | 9:30 | The stand-up starts at 10:15 from now on. | 10:15
work.deploy_day | On which day do we deploy? | We deploy on Wednesdays. | Wednesdays | Releases go out on Mondays now. | Mondays
home.dentist | Who is my dentist? | My dentist is Dr Aalto. | Dr Aalto | I changed dentists, I see Dr Bergman now. | Dr Bergman
home.bank | Which bank am I with? | My bank is Monzo. | Monzo | I closed that account, my salary goes to Starling now. | Starling
home.internet | Who is our internet provider? | We have our internet from Vodafone. | Vodafone | Our internet comes from Telia since the move. | Telia
home.diet | What do I eat? | I eat meat most days. | meat | I have been vegetarian since January. | vegetarian
work.team_size | How many people are in my team? | We are six people in the team. | six | With Ines we are seven in the team. | seven
project.node_version | Which Node version do we run? | We run Node 18 in production. | Node 18 | Production is on Node 22 since the upgrade. | Node 22
project.region | Which region are our servers in? | Our servers are in eu-west-1. | eu-west-1 | We moved all servers to eu-central-1. | eu-central-1
tool.password_manager | Which password manager do I use? | I use LastPass as my password manager. | LastPass | All my passwords are in Bitwarden now. | Bitwarden
home.school | Which school does my daughter go to? | My daughter goes to Oakfield school. | Oakfield | Mia started at St Anne’s after the holidays. | St Anne’s
work.budget | What is the budget of the project? | The budget for the project is 40,000. | 40,000 | Finance cut us to 32,000 for the project. | 32,000
work.deadline | When is the report due? | The report is due on 12 June. | 12 June | They pushed the report back to 3 July. | 3 July
home.shoes | Which running shoes do I wear? | I run in Brooks Ghost shoes. | Brooks Ghost | My running shoes are Hoka Clifton now. | Hoka Clifton
habit.learning | Which language am I learning? | I am learning Italian. | Italian | I dropped Italian and started learning Portuguese. | Portuguese
habit.coffee | How do I drink my coffee? | I drink my coffee with oat milk. | oat milk | I take my coffee black these days. | black
tool.chat | Which chat tool does the team use? | The team talks on Slack. | Slack | We chat on Teams since the merger. | Teams
work.accountant | Who is our accountant? | Our accountant is Mr Keller. | Mr Keller | Frau Winter does our books from this year on. | Frau Winter
home.piano_teacher | Who is my piano teacher? | My piano teacher is Olga. | Olga | I have piano lessons with Stefan now. | Stefan
work.hours | How many hours a week do I work? | I work 40 hours a week. | 40 hours | I cut down to 32 hours a week. | 32 hours
habit.commute | How do I get to work? | I take the bus to work. | bus | I cycle to work since they closed the line. | cycle
tool.formatter | Which formatter do we use? | We format with Black. | Black | Formatting is done by Ruff now. | Ruff
`);

/** Written before any rule, and not looked at while the rules were tuned. */
export const HELD_OUT = parse(`
work.title | What is my job title? | I am a senior engineer at work. | senior engineer | I was promoted to staff engineer. | staff engineer
home.address | What is my address? | My address is 14 Mill Lane. | 14 Mill Lane | New address: 3 Harbour Street. | 3 Harbour Street
work.team_lead | Who leads our team? | Our team lead is Marta. | Marta | Jonas took over as team lead. | Jonas
project.ci | Which CI do we use? | CI runs on Jenkins. | Jenkins | We build on GitHub Actions since summer. | GitHub Actions
home.insurance | Who is my insurance with? | My insurance is with AXA. | AXA | I am insured with Allianz now. | Allianz
home.electricity | Who do we get our electricity from? | Our electricity comes from E.ON. | E.ON | We get our power from Octopus now. | Octopus
home.laptop | Which laptop do I have? | My laptop is a ThinkPad T14. | ThinkPad T14 | I work on a Framework 13 now. | Framework 13
home.streaming | Which streaming service do I pay for? | I pay for Netflix. | Netflix | I cancelled Netflix and took Disney+. | Disney+
home.dog_walker | Who walks the dog? | Lena walks our dog in the mornings. | Lena | Since Lena left, Omar walks the dog. | Omar
habit.choir_evening | On which evening is choir? | Choir is on Monday evenings. | Monday | Choir moved to Wednesdays. | Wednesdays
work.retro_day | When do we have the retro? | The retro is every second Friday. | Friday | We hold the retro on Thursdays now. | Thursdays
project.frontend | Which frontend framework do we use? | The frontend is written in Vue. | Vue | We rewrote the frontend in Svelte. | Svelte
project.hosting | Where do we host the site? | We host the site on Heroku. | Heroku | The site runs at Hetzner now. | Hetzner
project.price | How much does the subscription cost? | A subscription costs 9 euros. | 9 euros | We raised the subscription to 12 euros. | 12 euros
home.doctor | Who is my doctor? | My doctor is Dr Singh. | Dr Singh | Dr Okafor is my new doctor. | Dr Okafor
home.hairdresser | Where do I get my hair cut? | I get my hair cut at Salon Rosa. | Salon Rosa | I go to Barber Nine for my hair now. | Barber Nine
home.class | Which class is my son in? | My son is in class 3b. | 3b | Leo is in 4b this year. | 4b
work.floor | On which floor is our office? | Our office is on the second floor. | second | We sit on the fifth floor now. | fifth
home.parking | Where do I park? | I park in the Linden garage. | Linden garage | I have a parking space behind the station now. | behind the station
home.router | Which router do I have? | Our router is a Fritzbox 7530. | Fritzbox 7530 | I replaced the router with a UniFi. | UniFi
tool.test_runner | Which test runner do we use? | Tests run with Jest. | Jest | We switched the tests to Vitest. | Vitest
tool.package_manager | Which package manager do we use? | We install packages with npm. | npm | We use pnpm everywhere now. | pnpm
work.mentor | Who is my mentor? | My mentor is Ravi. | Ravi | Helen mentors me since Ravi left. | Helen
habit.home_office | On which days do I work from home? | I work from home on Fridays. | Fridays | My home office days are Mondays and Tuesdays now. | Mondays and Tuesdays
habit.savings | How much do I save each month? | I save 200 euros each month. | 200 euros | I put aside 350 euros a month now. | 350 euros
habit.book | Which book am I reading? | I am reading Middlemarch. | Middlemarch | I finished it and am on to Dune. | Dune
habit.target_time | What is my target time for the half marathon? | My target for the half marathon is 1:50. | 1:50 | I lowered my half marathon target to 1:45. | 1:45
home.vet | Which vet do we go to? | Our vet is Dr Lund. | Dr Lund | We take the cat to Dr Moreau now. | Dr Moreau
work.lawyer | Who is our lawyer? | Our lawyer is Ms Novak. | Ms Novak | Ms Novak retired, Mr Stein is our lawyer. | Mr Stein
tool.shell | Which shell do I use? | My shell is bash. | bash | I type in fish now. | fish
identity.time_zone | What is my time zone? | My time zone is CET. | CET | I am on Lisbon time now. | Lisbon time
work.beans | Who do we buy our coffee beans from? | We buy our beans from Koppi. | Koppi | Our coffee beans come from April since the price rise. | April
`);
