import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook as Verifier } from 'standardwebhooks';
import type { DeliveryResponse, WebhookResponse } from '../../shared/schemas/webhooks.ts';
import type { UserClient } from './account.ts';
import { useServer } from './listening.ts';
import type { ScriptedRequest } from './scripted-server.ts';
import { until } from './until.ts';

export type NewWebhook = WebhookResponse & { secret: string };

/** What a receiver reads of an attempt, once its signature is right. */
export interface Message {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

export async function makeWebhook(person: UserClient, webhook: object): Promise<NewWebhook> {
  const reply = await person.post<NewWebhook>('/api/webhooks/', webhook);
  assert.equal(reply.status, 201, reply.text);
  return reply.body;
}

/** Verifies an attempt by the reference library of Standard Webhooks; throws if a signature is wrong. */
export function verified({ headers, body }: ScriptedRequest, secret: string): Message {
  return new Verifier(secret).verify(body, headers as Record<string, string>) as Message;
}

export function idOf({ headers }: ScriptedRequest): string {
  return String(headers['webhook-id']);
}

export async function deliveriesOf(person: UserClient, id: string, query = ''): Promise<DeliveryResponse[]> {
  const path = `/api/webhooks/${id}/deliveries/${query}`;
  return (await person.get<{ results: DeliveryResponse[] }>(path)).body.results;
}

/** Resolves with the latest delivery once it is as wanted. */
export function deliveryThat(
  person: UserClient,
  id: string,
  isWanted: (delivery: DeliveryResponse) => boolean,
): Promise<DeliveryResponse> {
  return until(async () => (await deliveriesOf(person, id)).find((one) => isWanted(one)));
}

/** Ends a job of the account: the quickest way to an event. */
export async function finishJob(person: UserClient): Promise<void> {
  const reply = await person.post('/api/memory/sync/', {});
  assert.equal(reply.status, 200, reply.text);
}

/** Receives reports of predictions; notes the `webhook-id`s under which each was reported, and counts the attempts. */
export function useReceiver() {
  const received = { idsByPrediction: new Map<string, Set<string>>(), attempts: 0 };
  const server = createServer(async (request, response) => {
    const { data } = JSON.parse(await text(request));
    const ids = received.idsByPrediction.get(data.prediction_id) ?? new Set();
    received.idsByPrediction.set(data.prediction_id, ids.add(String(request.headers['webhook-id'])));
    received.attempts += 1;
    response.end();
  });
  return { received, receiver: useServer(server) };
}
