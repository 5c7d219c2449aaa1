-- Returns words with which people ask for a value, as stems, each with a query for the words with which they state
-- it, as in "Who is my manager?" and "I report to Tomasz". In a line below, each word before the colon finds all of it.
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
