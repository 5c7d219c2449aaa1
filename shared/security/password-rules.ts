/** Returns why the password is too easy to guess, as a sentence for users; undefined if it is not. */
export function weaknessOf(password: string, email: string): string | undefined {
  const folded = fold(password);
  if (COMMON_PASSWORDS.has(folded)) return 'This password is too common';
  if (isPlainSequence(folded)) return 'A password should not be one character repeated, or a plain sequence';
  if (folded === fold(email)) return 'A password should not be the e-mail address';
  return undefined;
}

function fold(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

/** Recognises `aaaaaaaaaa`, `abcdefghij` and `9876543210`. */
function isPlainSequence(text: string): boolean {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0);
  const steps = new Set(points.slice(1).map((point, i) => point - (points[i] ?? 0)));
  const [step = 0] = steps;
  return steps.size <= 1 && Math.abs(step) <= 1;
}

/** Passwords from published lists of leaks, in lower case. Shorter passwords are refused for their length. */
const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
  !qaz2wsx3edc 0101010101 0123456789 0123456789a 0987654321 1010101010 1020304050 1029384756 1122334455
  112233445566 1212121212 1231231230 123123123123 1231234567 123321123321 1234512345 123454321a 1234554321
  1234567887654321 1234567890 12345678901 123456789012 1234567890qwertyuiop 1234567891 12345678910
  1234567899 123456789a 123456789abc 123456789q 1234qwer1234 1234qwerasdf 1313131313 1314520520 1357924680
  1472583690 147258369a 159753456852 1a2b3c4d5e 1q2w3e4r5t 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1qaz!qaz1qaz
  1qaz2wsx3edc 1qaz2wsx3edc4rfv 1qaz@wsx3edc 1qazxsw23edc 2020202020 3216549870 5201314520 6969696969
  7894561230 9876543210 a123456789 a1b2c3d4e5 a1b2c3d4e5f6 aa12345678 aa123456789 aa1234567890 abc1234567
  abc12345678 abc123456789 abc123abc123 abcd123456 abcd12345678 abcde12345 abcdef1234 abcdef123456
  abracadabra abracadabra1 abrakadabra access1234 access12345 adgangskode admin12345 admin123456
  admin1234567 admin12345678 admin123456789 admin123admin admin@1234 admin@12345 admin@123456 adminadmin
  adminadmin1 administrator administrator1 administrator123 adminpassword alexander1 alexander12
  alexander123 alexandra1 alexandria alexandria1 amorcito12 amoremio12 anastasia1 anastasija android123
  angelina123 anthony123 anthony1234 apple12345 apple123456 argentina1 argentina123 arsenal123 arsenal1234
  asd123456789 asdasdasdasd asdf123456 asdf1234asdf asdfasdfasdf asdfghjkl1 asdfghjkl12 asdfghjkl123
  asdfghjkl; asdfghjklzxcvbnm asdqwe123456 ashley1234 asshole123 australia1 australia123 autumn2020
  autumn2021 autumn2022 autumn2023 autumn2024 autumn2025 autumn2026 avengedsevenfold awesome123 awesome1234
  azerty1234 azerty12345 azerty123456 azertyuiop babydoll12 babygirl10 babygirl11 babygirl12 babygirl123
  babygirl1234 babygirl13 babygirl14 babygirl15 babygirl16 banana1234 banana12345 bangladesh barcelona1
  barcelona10 barcelona12 barcelona123 baseball10 baseball11 baseball12 baseball123 baseball1234 basketball
  basketball1 basketball12 basketball123 batman1234 batman12345 bayernmuenchen bayernmunchen beautiful1
  beautiful12 beautiful123 besiktas1903 bestfriend bestfriend1 bestfriends bestfriends1 birthday123
  bitchplease blackberry blackberry1 blackjack1 blackpanther blahblah12 blahblah123 blahblahblah blessed123
  blink182182 blueberry1 brittany12 bubblegum1 buster1234 butterflies butterfly1 butterfly12 butterfly123
  butterfly2 california california1 california123 callofduty cassandra1 catherine1 champion123 champions1
  changeit123 changeme12 changeme123 changeme123! changeme1234 charlie123 charlie1234 charlotte1
  charlotte123 cheerleader cheerleader1 cheerleading cheese1234 cheesecake cheesecake1 chelsea123
  chelsea1234 chelseafc1 chevrolet1 chicago123 chocolate1 chocolate12 chocolate123 chocolate2 christian1
  christian12 christian123 christina1 christine1 christmas1 christmas12 christmas25 christopher christopher1
  company123 computer12 computer123 computer1234 contrasena contrasena1 contrasena123 contraseña
  contraseña123 cookie1234 cookie12345 correcthorsebatterystaple corvette12 counter-strike counterstrike
  cowboys123 cristiano7 cristianoronaldo crystal123 daddysgirl daddysgirl1 daniel1234 daniel12345 december12
  december25 default123 defaultpassword demo123456 destiny123 deutschland deutschland1 diamond123
  diamond1234 dragon1234 dragon12345 dragonball dragonball1 dragonballz elizabeth1 elizabeth12 elizabeth123
  elizabeth2 evanescence evanescence1 facebook12 facebook123 facebook1234 family1234 familyguy1 fantastic1
  father1234 fenerbahce fenerbahce1 fenerbahce1907 fernanda123 ferrari123 flower1234 flower12345 football10
  football11 football12 football123 football1234 football13 football21 football22 forecue123 forever123
  forever1234 forever21! foreverlove fortnite123 francesca1 francisco1 frankfurt1 frederick1 freedom123
  freedom1234 friday1234 friends123 friendship fuckoff123 fuckyou123 fuckyou1234 fuckyou12345 fuckyou666
  fuckyoubitch gabriella1 gabrielle1 galatasaray galatasaray1 galatasaray1905 gameofthrones gangsta123
  gangster12 gangster13 ginger1234 gingerbread giovanna12 godbless123 godblessme godisgood1 godislove1
  golfer1234 goodbye123 goodluck123 goodmorning google1234 google12345 greenday12 guadalupe1 guest12345
  guest123456 guitar1234 gymnastics gymnastics1 halloween1 halloween31 hannah1234 happiness1 happy12345
  happy123456 happyday123 harrypotter harrypotter1 harrypotter7 haslo12345 hello12345 hello123456
  hello1234567 hellohello hellohello1 hellokitty hellokitty1 hellokitty12 hellokitty123 helloworld
  helloworld1 helloworld123 heslo12345 hockey1234 hogwarts123 hunter1234 hunter12345 idontknow1 idontknow123
  idontremember ilovechris ilovehim123 ilovejesus ilovejesus1 iloveme123 ilovemike1 ilovemusic ilovemusic1
  ilovemyfamily ilovemylife ilovemymom ilovemyself iloveyou!! iloveyou10 iloveyou11 iloveyou12 iloveyou123
  iloveyou1234 iloveyou13 iloveyou14 iloveyou143 iloveyou2010 iloveyou21 iloveyou22 iloveyou23 iloveyou247
  iloveyou4ever iloveyou69 iloveyoubaby iloveyouforever iloveyoujesus iloveyousomuch india12345 india123456
  indonesia1 indonesia123 instagram1 instagram123 internet12 internet123 internet1234 iphone1234 ironman123
  jacqueline jacqueline1 january123 jasmine123 jennifer12 jennifer123 jessica123 jessica1234 jesus12345
  jesus123456 jesuschrist jesuschrist1 jesusloves1 jesuslovesme jetaime123 jonathan12 jonathan123 jordan1234
  jordan2323 joshua1234 justinbieber justinbieber1 juventus10 juventus123 katherine1 killer1234 killer12345
  killer666666 kimberly12 kimberly123 lakers1234 lamborghini leonardo123 letmein!!! letmein123 letmein123!
  letmein1234 letmein12345 letmeinnow linkedin123 linkinpark linkinpark1 liverpool1 liverpool12 liverpool123
  liverpoolfc lkjhgfdsa1 login12345 login123456 lordoftherings losangeles losenord123 loveforever lovelove12
  lovelove123 lovelovelove lovely1234 loveme1234 loveyou123 loveyou1234 lucky12345 lucky77777 lösenord123
  maggie1234 mahalkita1 mahalkoyou malaysia123 manager123 manager1234 manchester manchester1
  manchesterunited manunited1 manutd1234 margarita1 master1234 master12345 master123456 matrix1234
  matthew123 matthew1234 maverick12 maverick123 mercedes12 mercedes123 messi12345 metallica1 metallica123
  michael123 michael1234 michelle12 michelle123 mickeymouse mickeymouse1 microsoft1 microsoft123 minecraft1
  minecraft12 minecraft123 mnbvcxz123 mohammed123 mommy12345 monday1234 monkey1234 monkey12345 motdepasse
  motdepasse1 motdepasse123 mother1234 motherfucker motherfucker1 motorcycle motorola12 muhammad123
  mustang123 mychemicalromance mylove1234 mypassword mypassword1 mypassword123 natalia123 nathaniel1
  network123 newpassword newpassword1 newpassword123 newyork123 newyorkcity nicholas12 nicholas123
  nicole1234 nintendo123 nirvana123 nokia12345 nothing123 november11 number1234 onedirection onedirection1
  online1234 opensesame opensesame1 orange1234 p4ssw0rd123 p@ssw0rd12 p@ssw0rd123 p@ssw0rd1234 p@ssword12
  p@ssword123 p@ssword1234 pa$$w0rd12 pa$$w0rd123 pa$$word12 pa$$word123 pakistan12 pakistan123 parola1234
  parola12345 pass123456 pass1234567 pass12345678 pass1234pass passpasspass passw0rd1! passw0rd12
  passw0rd123 passw0rd1234 password#123 password.123 password00 password01 password02 password1! password10
  password11 password12 password12! password123 password123! password1234 password1234! password12345
  password123456 password123456789 password13 password2020 password2021 password2022 password2023
  password2024 password2025 password2026 password21 password22 password23 password69 password77 password88
  password99 password@1 password@12 password@123 password@1234 password_123 passwordpassword passwort123
  passwort1234 patricia12 patrick123 patriots12 pepper1234 philadelphia philippines phoenix123 playstation
  playstation1 playstation2 playstation3 playstation4 poiuytrewq pokemon123 pokemon1234 pokemon12345
  porsche911 princesa123 princess10 princess11 princess12 princess123 princess1234 princess13 princess14
  princess15 princess16 princess21 princess22 purple1234 q123456789 q1w2e3r4t5 q1w2e3r4t5y6 qazwsx1234
  qazwsx12345 qazwsxedc1 qazwsxedc12 qazwsxedc123 qazwsxedcrfv qazwsxedcrfvtgb qazxswedc1 qazxswedcvfr
  qwe123456789 qwe123qwe123 qweasdzxc1 qweasdzxc123 qweqweqwe1 qwer1234qwer qwerasdfzxcv qwerqwer1234
  qwerty1234 qwerty12345 qwerty123456 qwerty1234567 qwerty12345678 qwerty123456789 qwertyqwerty qwertyuiop
  qwertyuiop1 qwertyuiop12 qwertyuiop123 qwertyuiop1234567890 qwertyuiop[] qwertyuiopasdfghjkl qwertzuiop
  rainbow123 rainbow1234 rammstein1 ranger1234 realmadrid realmadrid1 realmadrid123 realmadrid7 remember123
  robert1234 ronaldo123 ronaldo777 root123456 root1234567 rootpassword salasana123 samantha12 samantha123
  samsung123 samsung1234 scoobydoo1 scoobydoo2 sebastian1 sebastian123 secret1234 secret12345 secret123456
  security123 security1234 senha12345 senha123456 september1 september11 september123 server1234 service123
  shadow1234 shadow12345 singapore1 singapore123 skateboard skateboard1 skateboarding slipknot12 slipknot123
  slipknot666 smiley1234 snoopy1234 snowboarding soccer1234 soccer12345 something1 something123 sometimes1
  spiderman1 spiderman12 spiderman123 spongebob1 spongebob12 spongebob123 spring2020 spring2021 spring2022
  spring2023 spring2024 spring2025 spring2026 starcraft1 startrek123 starwars12 starwars123 starwars1234
  steelers12 steelers123 stephanie1 stephanie12 stephanie123 strawberries strawberry strawberry1
  strawberry12 success123 success1234 summer1234 summer2020 summer2021 summer2022 summer2023 summer2024
  summer2025 summer2026 sunflower1 sunflower12 sunflower123 sunshine10 sunshine11 sunshine12 sunshine123
  sunshine1234 sunshine13 sunshine22 superadmin superadmin1 superadmin123 superman12 superman123
  superman1234 superuser1 sweetheart sweetheart1 sweetheart12 sweetness1 sweetpea12 sysadmin123 teamo12345
  teamo123456 teamomucho teamoteamo tennis1234 tequieromucho test123456 test1234567 test12345678
  test123456789 tester12345 testing123 testing1234 testpassword testtest12 testtest123 testuser123
  thepassword thisisapassword thisismypassword thomas1234 thunder123 tigger1234 tinkerbell tinkerbell1
  tinkerbell12 topsecret1 topsecret123 truelove123 trustno1123 unicorn123 user123456 user12345678
  username123 useruseruser valentina1 valentina123 valentine1 valentine14 vanessa123 venezuela1 veronica12
  victoria12 victoria123 volkswagen volkswagen1 volleyball volleyball1 volleyball12 w123456789 wachtwoord
  wachtwoord1 wachtwoord123 warcraft123 washington washington1 watermelon watermelon1 welcome123 welcome123!
  welcome1234 welcome12345 welcome2020 welcome2021 welcome2022 welcome2023 welcome2024 welcome2025
  welcome2026 welcome@123 welcomehome whatever12 whatever123 whatsapp123 william123 windows123 winner1234
  winniethepooh winter2020 winter2021 winter2022 winter2023 winter2024 winter2025 winter2026 woaini1314
  woaini5201314 wonderful1 yankees123 yellow1234 yourpassword youtube123 z123456789 zaq12wsx34 zaq12wsxcde3
  zaq1xsw2cde3 zaq1zaq1zaq1 zxc1234567 zxc123456789 zxcvasdfqwer zxcvbnm,./ zxcvbnm123 zxcvbnm1234
  zxcvbnmasdfghjkl
`
    .trim()
    .split(/\s+/),
);
