-- Returns words with which people ask for a value in English, German, French and Spanish, as English stems, each with a
-- query for the words with which they state it, as in "Who is my manager?" and "I report to Tomasz". In a line below,
-- each word before the colon finds all of it.
do $do$
declare
  _lines text := $$
manager boss supervisor: report reporting
employer company firm job: work hired joined started
work: job employer hired joined
title role position profession job: promoted engineer developer designer
lead leader leads: head took
colleague mentor: mentors teaches
live home address city town: living moved moving flat house apartment street lane road
rent: flat apartment landlord lease
landlord: landlady
phone mobile handset: iphone pixel galaxy samsung fairphone nokia xiaomi
computer laptop notebook: macbook thinkpad dell desktop
car drive vehicle: vw volkswagen skoda renault toyota ford fiat tesla bmw audi volvo kia hyundai peugeot honda
bicycle bike: cycle
commute travel: bus train tram cycle bike walk drive
bank: account
money pay salary wage price cost costs costing charge: euros dollars pounds raised cut
save saving savings: aside
insurance insured: insure
electricity power energy: electric
provider supplier buy: comes delivered from
internet: broadband wifi fibre isp
streaming television tv: netflix disney hulu spotify
doctor gp physician: dr
dentist: dr
vet: dr
hairdresser hair haircut barber: salon
lawyer solicitor attorney: ms mr
accountant bookkeeper: books bookkeeping taxes accounting
school: class grade kindergarten
teacher tutor coach trainer: lessons lesson classes teaches
eat diet food: vegan vegetarian meat fish
drink: coffee tea water beer wine
wear: shoes clothes
learn learning study: lessons course
language: english german french spanish italian portuguese dutch swedish polish greek turkish russian chinese
language: japanese korean arabic python typescript javascript rust java kotlin swift ruby php
read reading book novel: finished
day weekday evening: monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday
day weekday evening: saturdays sunday sundays
month: january february march april may june july august september october november december
due deadline: postponed pushed
deploy deployment release ship: releases released shipped
database db datastore: postgres postgresql mysql mariadb sqlite mongodb oracle redis dynamodb cassandra
browser: firefox chrome chromium safari edge vivaldi brave opera
editor ide: vim neovim emacs vscode zed sublime intellij webstorm pycharm helix nano
shell: bash zsh fish nushell powershell
terminal: iterm kitty alacritty ghostty wezterm
os system distro: linux windows macos ubuntu debian fedora arch mint
password passwords: bitwarden 1password lastpass keepass
chat messenger: slack teams discord signal whatsapp telegram matrix talk talks
formatter format formatting linter: prettier biome black ruff eslint gofmt
runner tests testing: jest vitest mocha pytest junit
package packages dependencies: npm pnpm yarn bun pip poetry uv cargo
ci build builds pipeline: jenkins github gitlab circleci actions
cloud hosting host hosted region server servers: aws azure gcp heroku hetzner vercel netlify
framework frontend: react vue svelte angular solid
tracker ticket tickets: jira linear github
theme: dark light
zone timezone: utc cet gmt est pst time
diet: vegan vegetarian
pet: dog cat
park parking: garage space
floor: office
office desk: sit
team: people
budget: finance cut
chef chefin vorgesetzte vorgesetzter: berichte berichtet
arbeite arbeitgeber firma unternehmen stelle: arbeite angestellt eingestellt angefangen
leitet leiter leiterin: leitet leitung ubernommen
wohne wohnen lebe adresse wohnort: wohne lebe gezogen umgezogen umzug ziehe wohnung haus strasse
miete vermieter vermieterin: miete mieten vermieter vermieterin wohnung
handy telefon smartphone: iphone pixel galaxy samsung fairphone nokia xiaomi
rechner notebook: macbook thinkpad dell laptop
auto wagen fahre: vw volkswagen skoda renault toyota ford fiat tesla bmw audi volvo kia hyundai peugeot honda
arbeitsweg pendle: bus bahn zug rad fahrrad auto
verdiene gehalt lohn zahle preis kostet kosten: euro gehaltserhohung
spare: zuruck beiseite
versicherung versichert: versichert versicherung
strom energie gas: strom stromanbieter gasanbieter
anbieter lieferant kaufen: liefert
arzt arztin hausarzt hausarztin zahnarzt zahnarztin tierarzt tierarztin: dr
friseur friseurin haare: haare schneidet salon
anwalt anwaltin: kanzlei
steuerberater steuerberaterin buchhaltung: bucher steuern
schule kindergarten kita: klasse schule
lehrer lehrerin trainer trainerin: unterricht stunden
esse ernahrung: vegan vegetarisch vegetarier fleisch fisch
trinke: kaffee tee wasser bier wein
trage: schuhe
lerne: unterricht kurs
lese buch roman: gelesen
wochentag abend: montag montags dienstag dienstags mittwoch mittwochs donnerstag donnerstags freitag freitags
wochentag abend: samstag samstags sonntag sonntags
frist abgabe fallig: verschoben
datenbank: postgres postgresql mysql mariadb sqlite mongodb oracle redis dynamodb cassandra
passwort passworter passwortmanager: bitwarden 1password lastpass keepass
haustier: hund katze
parke parkplatz: garage stellplatz
buro schreibtisch: sitze sitzen etage stock
responsable patron patronne manageur: responsable
travaille employeur entreprise emploi: travaille embauche commence rejoint
dirige chef: dirige direction
habite habitons vis adresse ville: habite demenage emmenage appartement maison rue
loyer proprietaire: loyer appartement proprietaire
telephone portable smartphone: iphone pixel galaxy samsung fairphone nokia xiaomi
ordinateur: macbook thinkpad dell
voiture conduis roule: vw volkswagen skoda renault toyota ford fiat tesla bmw audi volvo kia hyundai peugeot honda
gagne salaire paie paye prix coute: euros augmentation
assurance assure assuree: assure assurance
electricite energie fournisseur: electricite fournisseur
medecin docteur dentiste veterinaire: docteur dr
coiffeur coiffeuse cheveux: cheveux salon
avocat avocate: maitre
comptable: comptes impots
ecole creche classe: classe ecole
professeur prof entraineur: cours
mange regime: vegan vegetarien vegetarienne viande poisson
bois: cafe the eau biere vin
apprends: cours
lis livre roman: lu
jour soir: lundi mardi mercredi jeudi vendredi samedi dimanche
echeance delai: repousse reporte
base donnees: postgres postgresql mysql mariadb sqlite mongodb oracle redis dynamodb cassandra
navigateur: firefox chrome chromium safari edge vivaldi brave opera
editeur: vim neovim emacs vscode zed sublime intellij webstorm pycharm helix
passe passes: bitwarden 1password lastpass keepass
animal: chien chat
bureau etage: etage bureau
jefe jefa responsable: responsable
trabajo trabajamos empleo empresa: trabajo empece contrato contrataron
dirige lider: dirige lidera
vivo vivimos direccion ciudad: vivo mude mudado mudamos piso casa calle
alquiler casero casera: alquiler piso casero casera
telefono movil: iphone pixel galaxy samsung fairphone nokia xiaomi
ordenador portatil: macbook thinkpad dell
coche conduzco: vw volkswagen skoda renault toyota ford fiat tesla bmw audi volvo kia hyundai peugeot honda
gano sueldo salario pago precio cuesta: euros aumento
seguro asegurado asegurada: asegurado asegurada seguro
electricidad luz proveedor: electricidad luz
medico medica doctor dentista veterinario: doctor doctora dr dra
peluquero peluquera peluqueria pelo: pelo
abogado abogada: bufete
escuela colegio guarderia clase: clase
profesor profesora entrenador: clases
dieta: vegano vegetariano vegetariana carne pescado
bebo: cafe te agua cerveza vino
aprendo: clases curso
leo libro novela: leido
dia tarde noche: lunes martes miercoles jueves viernes sabado domingo
plazo entrega: aplazado aplazaron
datos: postgres postgresql mysql mariadb sqlite mongodb oracle redis dynamodb cassandra
navegador: firefox chrome chromium safari edge vivaldi brave opera
contrasena contrasenas: bitwarden 1password lastpass keepass
mascota: perro gato
oficina planta: planta piso oficina
$$;
begin
  execute (
    with groups as (
      select to_tsvector('english', split_part(l, ':', 1)) as names,
             to_tsvector('english', replace(l, ':', ' ')) as words
        from regexp_split_to_table(trim(_lines, E'\n'), '\n') l
    ),
    pairs as (
      select n.lexeme as word, string_agg(distinct quote_literal(w.lexeme), ' | ') as lookup
        from groups g cross join unnest(g.names) n cross join unnest(g.words) w group by n.lexeme
    )
    select format(
      $f$create or replace function related_words_v1() returns table (word text, lookup tsquery)
         language sql immutable as $$ select * from (values %s) w (word, lookup) $$ $f$,
      string_agg(format('(%L, %L::tsquery)', p.word, p.lookup), ', '))
      from pairs p);
end $do$;
