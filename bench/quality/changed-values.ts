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
home.landlord | Who is my landlord? | My landlord is Mr Petersen. | Petersen | The flat was sold, so we pay the rent to Ms Duarte now. | Duarte
home.cleaner | Who cleans our flat? | Irena cleans our flat every Friday. | Irena | Irena moved away, so Paulo cleans for us now. | Paulo
home.neighbour | Who lives next door? | The Okonjos live next door to us. | Okonjos | The Okonjos left, the Lindqvists live next door now. | Lindqvists
home.breakfast | What do I have for breakfast? | I have porridge for breakfast. | porridge | Breakfast is just fruit and yoghurt since my check-up. | yoghurt
home.gas | Which gas supplier do we have? | Our gas supplier is Vattenfall. | Vattenfall | We changed our gas contract to Enercity. | Enercity
home.camera | Which camera do I shoot with? | I shoot with a Canon R6. | Canon R6 | I sold the Canon and shoot on a Fujifilm X-T5. | Fujifilm X-T5
tool.keyboard | Which keyboard do I type on? | I type on a Keychron K2. | Keychron K2 | My desk has a Moonlander since Monday, the Keychron is in the drawer. | Moonlander
home.watch | Which watch do I wear? | I wear a Garmin Fenix. | Garmin Fenix | I swapped the Garmin for a Coros Pace. | Coros Pace
habit.instrument | Which instrument do I play? | I play the clarinet. | clarinet | I sold my clarinet, I play the cello now. | cello
habit.bedtime | When do I go to bed? | I go to bed at eleven. | eleven | I am in bed by half past nine now. | half past nine
habit.train | Which train do I take in the morning? | I take the S3 in the morning. | S3 | The S3 is too full, I am on the S7 now. | S7
habit.newspaper | Which newspaper do I read? | I read the Guardian. | Guardian | I let the Guardian lapse and subscribed to the Financial Times. | Financial Times
home.tax_adviser | Who does my taxes? | Ms Rieger does my taxes. | Rieger | I do the taxes with Taxfix now. | Taxfix
home.broker | Which broker are my shares with? | My shares are with Degiro. | Degiro | I transferred the whole depot to Trade Republic. | Trade Republic
identity.nickname | What do my friends call me? | My friends call me Bear. | Bear | Everybody calls me Kit these days. | Kit
home.pet | Which pet do we have? | We have a hamster called Pip. | hamster | We got a rabbit after Pip died. | rabbit
work.product_owner | Who is our product owner? | Our product owner is Delphine. | Delphine | Delphine went on leave and Mateusz decides the backlog now. | Mateusz
work.sprint_length | How long are our sprints? | Our sprints are two weeks long. | two weeks | We went to sprints of three weeks. | three weeks
work.meeting_room | In which room is the weekly? | The weekly is in room Kepler. | Kepler | We meet in Curie for the weekly now. | Curie
work.client | Who is my main client? | My main client is Brightwater. | Brightwater | Brightwater ended the contract, I work mostly for Osterholm now. | Osterholm
work.start_time | When do I start work? | I start work at eight. | eight | I begin at nine since Leo goes to school. | nine
work.room_mate | Who sits in my office? | Gunnar sits in my office. | Gunnar | Gunnar retired, I share the room with Abiola. | Abiola
project.message_queue | Which message queue do we use? | We use RabbitMQ as our message queue. | RabbitMQ | We replaced RabbitMQ with NATS. | NATS
project.search_engine | Which search engine does the shop use? | The shop searches with Solr. | Solr | Search runs on Typesense since last month. | Typesense
project.orm | Which ORM do we use? | Our ORM is Sequelize. | Sequelize | We threw out Sequelize for Drizzle. | Drizzle
project.python | Which Python are we on? | We are on Python 3.9. | Python 3.9 | All services run on Python 3.13 as of this week. | Python 3.13
project.mail | Who sends our transactional mail? | We send transactional mail with Mailgun. | Mailgun | Mails go out through Postmark now. | Postmark
project.analytics | What do we measure visits with? | We measure visits with Matomo. | Matomo | Our numbers come from Plausible now. | Plausible
project.line_length | How long may our lines be? | Our lines may be 80 characters long. | 80 characters | We allow 110 characters per line now. | 110 characters
tool.notes | Where do I keep my notes? | I keep my notes in Evernote. | Evernote | I moved my notes to Obsidian. | Obsidian
tool.mail_client | Which mail client do I use? | I read my mail in Thunderbird. | Thunderbird | I do my mail in Fastmail's web app now. | Fastmail
tool.layout | Which keyboard layout do I use? | My keyboard layout is QWERTZ. | QWERTZ | I learnt Colemak and type in it now. | Colemak
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

/** Pairs on other topics. Written in one go with half of \`TUNING\`, before the rules of which these are the measure. */
export const OF_OTHER_TOPICS = parse(`
home.plumber | Which plumber do we call? | We call Becker when a pipe leaks, he is our plumber. | Becker | Becker has closed, Novotny does our pipes now. | Novotny
home.flatmate | Who do I share the flat with? | I share the flat with Dario. | Dario | Dario moved out and Salma has his room. | Salma
home.supermarket | Where do I do my shopping? | I do my shopping at Lidl. | Lidl | I buy everything at the market hall these days. | market hall
habit.wake_up | When do I get up? | I get up at 6:30 on weekdays. | 6:30 | My alarm is set to 7:15 since the office moved. | 7:15
home.mobile_plan | Which mobile plan do I have? | My mobile plan is with Orange, 20 GB. | Orange | I took my number to Congstar, 30 GB. | Congstar
home.headphones | Which headphones do I use? | My headphones are Sony XM4. | Sony XM4 | I got the Bose QuietComfort for my birthday and wear them all day. | Bose QuietComfort
tool.monitor | Which monitor do I have? | My monitor is a Dell U2720Q. | Dell U2720Q | The Dell died, I look at an LG 34WN80C now. | LG 34WN80C
habit.sport | Which sport do I do in the evening? | I play badminton in the evening. | badminton | I gave up badminton and go bouldering instead. | bouldering
habit.yoga_teacher | Who is my yoga teacher? | My yoga teacher is Amina. | Amina | Yoga is with Ludovic since Amina had her baby. | Ludovic
habit.lunch_place | Where do I have lunch? | I have lunch in the canteen. | canteen | I eat at the noodle bar round the corner since the canteen closed. | noodle bar
habit.holiday | Where do we spend our summer holidays? | We spend our summer holidays in Brittany. | Brittany | From this year on we go to Slovenia in the summer. | Slovenia
home.babysitter | Who looks after the kids in the evening? | Our babysitter is Carla. | Carla | Carla went to university, now Femke sits for us. | Femke
home.mortgage | Which bank is our mortgage with? | Our mortgage is with ING. | ING | We refinanced the house with Rabobank. | Rabobank
identity.surname | What is my surname? | My surname is Halloran. | Halloran | I married, and I am Ms Castellano from now on. | Castellano
identity.email | What is my email address? | My email is ada@oldmail.example. | ada@oldmail.example | You reach me at ada@newbox.example now. | ada@newbox.example
home.kindergarten | Which kindergarten is Nora in? | Nora is in the Birchwood kindergarten. | Birchwood | We moved Nora to the Little Foxes in August. | Little Foxes
work.scrum_master | Who is our scrum master? | Our scrum master is Ivo. | Ivo | Ivo handed the role to Zeynep. | Zeynep
work.on_call_day | On which day am I on call? | I am on call on Sundays. | Sundays | My on-call day is Thursday since the new rota. | Thursday
work.desk | Where is my desk? | My desk is by the window in the north wing. | north wing | I sit next to the print room since the refit. | print room
work.salary | What do I earn? | I earn 61,000 a year. | 61,000 | I got a raise to 66,500. | 66,500
work.notice | How long is my notice period? | My notice period is one month. | one month | With the new contract the notice is three months. | three months
work.reviewer | Who reviews my pull requests? | Hector reviews my pull requests. | Hector | My PRs go to Noor since Hector changed teams. | Noor
project.cache | What do we cache with? | We cache with Memcached. | Memcached | The cache is Valkey since the rewrite. | Valkey
project.bundler | Which bundler do we use? | We bundle with Webpack. | Webpack | We build everything with Vite now. | Vite
project.license | Which licence is our library under? | Our library is under GPL. | GPL | We relicensed the library to Apache 2.0. | Apache 2.0
project.payments | Which payment provider do we use? | Payments go through Adyen. | Adyen | Customers pay through Stripe since the switch. | Stripe
project.error_tracker | Where do our errors go? | Our errors go to Rollbar. | Rollbar | We log errors in Sentry since the spring. | Sentry
project.branch | Which branch do we release from? | We release from the branch develop. | develop | Releases are cut from main now. | main
project.port | On which port does the API listen? | Our API listens on port 8080. | 8080 | The API is on port 9443 since we put TLS in. | 9443
tool.todo | Which todo app do I use? | My todo app is Todoist. | Todoist | I write my tasks into Things now. | Things
tool.music | Where do I listen to music? | I listen to music on Spotify. | Spotify | I am on Tidal for music since the price rise. | Tidal
tool.font | Which font do I code in? | I code in Fira Code. | Fira Code | My font is JetBrains Mono now. | JetBrains Mono
`);

/** Pairs of other topics again, half of them German. Written and put aside before the rules that they measure last. */
export const IN_TWO_LANGUAGES = parse(`
home.gardener | Who does our garden? | Mr Whitlock does our garden. | Whitlock | We have let Mr Whitlock go, Saoirse comes for the garden now. | Saoirse
home.heating | What do we heat with? | We heat with gas. | gas | We had a heat pump put in, so no more gas. | heat pump
home.mattress | How hard is my mattress? | My mattress is a soft one. | soft | I sleep on a firm mattress now. | firm
home.printer | Which printer do I have? | My printer is a Canon Pixma. | Canon Pixma | I print on a Brother HL now. | Brother HL
habit.podcast | Which podcast do I listen to? | I listen to Serial on the way home. | Serial | My podcast these days is Acquired. | Acquired
habit.hay_fever | What do I take against hay fever? | I take cetirizine against hay fever. | cetirizine | I changed to loratadine for the hay fever. | loratadine
habit.swim | Where do I go swimming? | I go swimming in the Aquadrome. | Aquadrome | The Aquadrome shut, I swim in the lake now. | lake
home.kids_club | Which club does my son play for? | My son plays for the Rovers. | Rovers | Ben went over to the Harriers. | Harriers
home.takeaway | Where do we order our pizza? | We order our pizza at Da Gino. | Da Gino | Da Gino got bad, we get pizza from Vesuvio now. | Vesuvio
work.intern | Who is our intern? | Our intern is Bronagh. | Bronagh | Tariq is the new intern. | Tariq
work.conference | Which conference do we sponsor? | We sponsor DevDays. | DevDays | This year we sponsor Codemotion instead. | Codemotion
work.coverage | How much test coverage do we want? | We want 70 percent test coverage. | 70 percent | The bar for test coverage is 85 percent now. | 85 percent
work.vpn | Which VPN do we use? | Our VPN is OpenVPN. | OpenVPN | We went to WireGuard last quarter. | WireGuard
project.css | What do we style with? | We style with Sass. | Sass | The styles are in Tailwind since the redesign. | Tailwind
project.release_name | What is the next release called? | The next release is called Otter. | Otter | We renamed the release to Badger. | Badger
tool.whiteboard | Which whiteboard do we draw on? | We draw on Miro. | Miro | Our whiteboard is Excalidraw from now on. | Excalidraw
home.stadt | Wo wohne ich? | Ich wohne in Kassel. | Kassel | Ich bin nach Rostock gezogen. | Rostock
work.chefin | Wer ist meine Chefin? | Meine Chefin ist Frau Albers. | Albers | Frau Albers ist weg, ich berichte jetzt an Herrn Ngo. | Ngo
home.miete | Wie viel Miete zahle ich? | Ich zahle 780 Euro Miete. | 780 Euro | Die Miete ist auf 860 Euro gestiegen. | 860 Euro
home.zahnarzt | Wer ist mein Zahnarzt? | Mein Zahnarzt ist Dr. Mertens. | Mertens | Ich habe den Zahnarzt gewechselt, jetzt ist es Dr. Sommer. | Sommer
habit.sporttag | An welchem Tag gehe ich schwimmen? | Ich gehe dienstags schwimmen. | dienstags | Schwimmen ist jetzt donnerstags. | donnerstags
tool.editor | Welchen Editor benutze ich? | Ich benutze Atom als Editor. | Atom | Ich schreibe meinen Code jetzt in Helix. | Helix
work.firma | Für wen arbeite ich? | Ich arbeite bei der Brandt GmbH. | Brandt GmbH | Seit August bin ich bei Solvera angestellt. | Solvera
project.datenbank | Welche Datenbank nutzen wir? | Unsere Datenbank ist MariaDB. | MariaDB | Wir sind auf CockroachDB umgestiegen. | CockroachDB
home.auto | Welches Auto fahre ich? | Ich fahre einen Polo. | Polo | Den Polo habe ich verkauft, jetzt fahre ich einen Dacia. | Dacia
home.versicherung | Bei wem bin ich versichert? | Ich bin bei der HUK versichert. | HUK | Versichert bin ich inzwischen bei der Debeka. | Debeka
work.daily | Wann ist unser Daily? | Unser Daily ist um 9 Uhr. | 9 Uhr | Das Daily haben wir auf 11 Uhr gelegt. | 11 Uhr
home.kita | In welche Kita geht Emil? | Emil geht in die Kita Sonnenschein. | Sonnenschein | Emil ist seit dem Sommer in der Kita Pusteblume. | Pusteblume
habit.tee | Was trinke ich morgens? | Ich trinke morgens Kaffee. | Kaffee | Morgens gibt es bei mir nur noch grünen Tee. | grünen Tee
work.stunden | Wie viele Stunden arbeite ich pro Woche? | Ich arbeite 40 Stunden pro Woche. | 40 Stunden | Ich habe auf 30 Stunden pro Woche reduziert. | 30 Stunden
home.handy | Welches Handy habe ich? | Mein Handy ist ein Xperia. | Xperia | Das Xperia ist hin, ich habe mir ein Galaxy geholt. | Galaxy
home.hausarzt | Wer ist unser Hausarzt? | Unser Hausarzt ist Dr. Pohl. | Pohl | Dr. Pohl ist in Rente, wir gehen jetzt zu Dr. Krämer. | Krämer
`);

/** Pairs of four languages. Written before the rules for successors, and not looked at while these were tuned. */
export const IN_FOUR_LANGUAGES = parse(`
work.expenses | Who signs off my expenses? | Dagny signs off my expenses. | Dagny | Expenses go to Oyelaran these days. | Oyelaran
home.boiler | Who services our boiler? | Hartley services our boiler. | Hartley | We found a new firm for the boiler, Pennant. | Pennant
habit.running_route | Where do I go running? | I go running along the canal. | canal | I run in Heaton Park now. | Heaton Park
project.queue_timeout | What is our request timeout? | Our request timeout is 30 seconds. | 30 seconds | We cut the timeout to 12 seconds. | 12 seconds
work.designer | Who designs our icons? | Milena designs our icons. | Milena | The icons are by Tobiah now that Milena is gone. | Tobiah
tool.calendar | Which calendar do I use? | My calendar is Fantastical. | Fantastical | I moved from Fantastical to Notion Calendar. | Notion Calendar
home.cat_food | What does the cat eat? | The cat eats Felix. | Felix | We feed the cat Sheba these days. | Sheba
habit.glasses | How strong are my glasses? | My glasses are minus 2. | minus 2 | The optician gave me minus 2.75 glasses. | minus 2.75
work.teamleitung | Wer leitet unser Team? | Unser Team leitet Henrike. | Henrike | Seit Mai leitet Volkan das Team. | Volkan
home.strom | Von wem bekommen wir unseren Strom? | Unser Strom kommt von Vattenfall. | Vattenfall | Wir haben den Stromanbieter gewechselt und sind bei Lichtblick. | Lichtblick
project.cloud | Wo laufen unsere Server? | Unsere Server laufen bei Hetzner. | Hetzner | Die Server stehen nun bei Scaleway. | Scaleway
habit.training | Wann habe ich Training? | Mein Training ist am Montag. | Montag | Training habe ich jetzt mittwochs. | mittwochs
home.vermieter | Wer ist mein Vermieter? | Mein Vermieter ist Herr Lenz. | Lenz | Das Haus gehört jetzt Frau Okoye, sie ist die neue Vermieterin. | Okoye
work.gehalt | Wie viel verdiene ich? | Ich verdiene 3.900 Euro brutto. | 3.900 Euro | Ich habe eine Gehaltserhöhung auf 4.250 Euro bekommen. | 4.250 Euro
tool.passwort | Welchen Passwortmanager nutze ich? | Ich nutze KeePass als Passwortmanager. | KeePass | Ich bin von KeePass zu Bitwarden gewechselt. | Bitwarden
home.friseur | Zu welchem Friseur gehe ich? | Ich gehe zum Friseur Aydin. | Aydin | Meine Haare schneidet jetzt Salon Mira. | Salon Mira
home.ville | Où est-ce que j'habite ? | J'habite à Rennes. | Rennes | J'ai déménagé à Grenoble cet été. | Grenoble
work.responsable | Qui est ma responsable ? | Ma responsable est Solène. | Solène | Solène est partie, ma responsable est maintenant Aïcha. | Aïcha
project.base | Quelle base de données utilisons-nous ? | Notre base de données est Oracle. | Oracle | Nous sommes passés d'Oracle à PostgreSQL. | PostgreSQL
home.loyer | Combien je paie de loyer ? | Je paie 640 euros de loyer. | 640 euros | Le loyer est passé à 710 euros. | 710 euros
habit.sport | Quel jour je vais à la piscine ? | Je vais à la piscine le mardi. | mardi | Désormais je vais nager le jeudi. | jeudi
tool.editeur | Quel éditeur est-ce que j'utilise ? | J'utilise Atom comme éditeur. | Atom | J'ai remplacé Atom par Zed. | Zed
home.medecin | Qui est mon médecin ? | Mon médecin est le docteur Morel. | Morel | Le docteur Morel a pris sa retraite, je vais chez le docteur Haddad. | Haddad
work.bureau | À quel étage est notre bureau ? | Notre bureau est au deuxième étage. | deuxième | On est au cinquième étage depuis les travaux. | cinquième
home.ciudad | ¿Dónde vivo? | Vivo en Zaragoza. | Zaragoza | Me mudé a Valencia en marzo. | Valencia
work.jefa | ¿Quién es mi jefa? | Mi jefa es Inés. | Inés | Ahora mi jefa es Rocío. | Rocío
project.servidor | ¿Dónde alojamos la web? | Alojamos la web en OVH. | OVH | Hemos cambiado de OVH a Hetzner. | Hetzner
home.alquiler | ¿Cuánto pago de alquiler? | Pago 820 euros de alquiler. | 820 euros | Me subieron el alquiler a 890 euros. | 890 euros
habit.gimnasio | ¿A qué gimnasio voy? | Voy al gimnasio Altafit. | Altafit | Me he apuntado al gimnasio Forus. | Forus
home.coche | ¿Qué coche conduzco? | Conduzco un Seat León. | Seat León | Vendí el Seat y me compré un Toyota Yaris. | Toyota Yaris
tool.navegador | ¿Qué navegador uso? | Uso Firefox como navegador. | Firefox | He dejado Firefox y ahora navego con Brave. | Brave
work.horario | ¿A qué hora empiezo a trabajar? | Empiezo a trabajar a las ocho. | ocho | Desde septiembre entro a las nueve. | nueve
`);
