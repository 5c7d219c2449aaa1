import { useState } from 'preact/hooks';
import type { DeliveryResponse, NewWebhookResponse, WebhookResponse } from '../../src/api.ts';
import { moment, t } from '../strings/index.ts';
import { ConfirmedAction, Secret } from './actions.tsx';
import { Check } from './check.tsx';
import { useSignedIn } from './context.ts';
import { submitHandler, useAction, useLoad, useSaves } from './hooks.ts';
import { Button, Card, ErrorNote, Field, FormError, faultOf } from './ui.tsx';

type EventName = WebhookResponse['events'][number];
const ACCOUNT_EVENTS: readonly EventName[] = ['prediction.escalated', 'job.finished', 'connection.revoked'];
const APP_EVENTS: readonly EventName[] = ['connection.revoked', 'cap.reached'];

/** A day, in which a receiver can be given the new secret. */
const GRACE_S = 24 * 60 * 60;

/** The webhooks of the account itself, or of one of its apps. */
export function Webhooks({ app }: { app?: string }) {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(
    () => client.listWebhooks(app === undefined ? {} : { app_id: app }),
    [app],
    ['webhooks'],
  );
  const [secret, setSecret] = useState<string>();
  const onSecret = (one: string) => {
    setSecret(one);
    again();
  };
  const own = value?.results.filter(({ app_id }) => app_id === (app ?? null));
  return (
    <Card title={t.webhooks.title}>
      <p class="quiet small">{app === undefined ? t.webhooks.lead : t.webhooks.leadOfApp}</p>
      <MakeWebhook app={app} onMade={({ secret: made }) => onSecret(made)} />
      {secret !== undefined && <Secret lead={t.webhooks.once} text={secret} />}
      <ErrorNote error={error} again={again} />
      {own?.map((webhook) => (
        <OneWebhook key={webhook.id} of={webhook} onSecret={onSecret} onChanged={again} />
      ))}
    </Card>
  );
}

function MakeWebhook({
  app,
  onMade,
}: {
  app: string | undefined;
  onMade(webhook: NewWebhookResponse): void;
}) {
  const { client } = useSignedIn();
  const all = app === undefined ? ACCOUNT_EVENTS : APP_EVENTS;
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState(all);
  const making = useAction(async () => {
    const webhook = { url: url.trim(), events: [...events] };
    onMade(await client.createWebhook(app === undefined ? webhook : { ...webhook, app_id: app }));
    setUrl('');
  });
  const { error } = making;
  const toggle = (event: EventName) =>
    setEvents(all.filter((one) => (one === event ? !events.includes(one) : events.includes(one))));
  return (
    <form onSubmit={submitHandler(making.run)}>
      <FormError error={error} fields={['url']} />
      <Field
        label={t.webhooks.url}
        value={url}
        onInput={setUrl}
        autocomplete="off"
        fault={faultOf(error, 'url') && t.webhooks.fault}
        required
      />
      {all.map((event) => (
        <Check
          key={event}
          label={t.webhooks.events[event]}
          isOn={events.includes(event)}
          onChange={() => toggle(event)}
        />
      ))}
      <Button isBusy={making.isBusy}>{t.webhooks.make}</Button>
    </form>
  );
}

interface OneWebhookProps {
  of: WebhookResponse;
  onSecret(secret: string): void;
  onChanged(): void;
}

function OneWebhook({ of, onSecret, onChanged }: OneWebhookProps) {
  const { client } = useSignedIn();
  const [isOpen, setOpen] = useState(false);
  const switching = useAction(async () => {
    await client.changeWebhook(of.id, { active: of.disabled !== null });
    onChanged();
  });
  const state = of.disabled === null ? t.webhooks.active : t.webhooks.disabled[of.disabled];
  return (
    <section aria-label={of.url}>
      <h3>
        <bdi>{of.url}</bdi>
      </h3>
      <p class="quiet small">
        {of.events.map((event) => t.webhooks.events[event]).join(' · ')} · {state}
        {of.disabled === null &&
          of.failing_since !== null &&
          ` · ${t.webhooks.failing(moment(of.failing_since))}`}
      </p>
      <div class="row">
        <Button label={`${t.webhooks.deliveries}: ${of.url}`} onPress={() => setOpen(!isOpen)}>
          {t.webhooks.deliveries}
        </Button>
        <Button
          kind="link"
          action={switching}
          label={`${of.disabled === null ? t.webhooks.pause : t.webhooks.resume}: ${of.url}`}
        >
          {of.disabled === null ? t.webhooks.pause : t.webhooks.resume}
        </Button>
        <ConfirmedAction
          label={t.webhooks.rotate}
          of={of.url}
          question={t.webhooks.rotating}
          act={async () => onSecret((await client.rotateWebhookSecret(of.id, { grace_s: GRACE_S })).secret)}
        />
        <ConfirmedAction
          label={t.webhooks.end}
          of={of.url}
          question={t.webhooks.ending}
          act={() => client.removeWebhook(of.id).then(onChanged)}
        />
      </div>
      <ErrorNote error={switching.error} />
      {isOpen && <Deliveries of={of} />}
    </section>
  );
}

function Deliveries({ of }: { of: WebhookResponse }) {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => client.listWebhookDeliveries(of.id), [of.id], ['webhooks']);
  const replaying = useSaves(async (delivery: DeliveryResponse) => {
    await client.replayWebhookDeliveries(of.id, { delivery_ids: [delivery.id] });
    again();
  });
  return (
    <>
      <ErrorNote error={error ?? replaying.error} again={again} />
      {value?.results.length === 0 && <p class="quiet">{t.webhooks.none}</p>}
      <ul>
        {value?.results.map((one) => (
          <li key={one.id}>
            {t.webhooks.events[one.event]} · {moment(one.created_at)} · {t.webhooks.states[one.state]}
            {one.reason !== null && ` (${reasonText(one.reason)})`}{' '}
            {one.state !== 'pending' && (
              <Button
                kind="link"
                label={`${t.webhooks.replay}: ${moment(one.created_at)}`}
                onPress={() => replaying.run(one)}
              >
                {t.webhooks.replay}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <Button onPress={again}>{t.webhooks.refresh}</Button>
    </>
  );
}

/** Says in the person's language why an attempt failed, as far as the reason is known. */
function reasonText(reason: string): string {
  const [, answered, unreached] = /^answered (\d+)$|^no connection: (\w+)$/.exec(reason) ?? [];
  if (answered !== undefined) return t.webhooks.answered(answered);
  if (unreached !== undefined) return t.webhooks.unreached(unreached);
  return t.webhooks.reasons[reason as keyof typeof t.webhooks.reasons] ?? reason;
}
