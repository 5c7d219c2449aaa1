import type { IQueueBackend } from 'bullmq';
import type { RecurringTickets } from './queues.ts';
import { TICKET_OPTIONS, type TicketStore } from './ticket-queue.ts';

const TEMPLATE = { name: 'ticket', data: { ids: [] }, opts: TICKET_OPTIONS };

/**
 * BullMQ's job schedulers. The ticket of a tick has the tick in its id, so there is one, however many processes plant the
 * same. The worker that takes it adds the next one: if it dies before that, nothing adds more until it is planted again.
 */
export function plantedIn<B extends IQueueBackend, C>(queue: TicketStore<B, C>): RecurringTickets {
  return {
    async plant(id, pattern) {
      const known = await queue.getJobScheduler(id);
      // Replacing it would drop the ticket of a tick that is due just now.
      if (known?.pattern === pattern && (known.next ?? 0) > Date.now()) return;
      await queue.upsertJobScheduler(id, { pattern, tz: 'UTC' }, TEMPLATE);
    },
    async remove(id) {
      await queue.removeJobScheduler(id);
    },
  };
}
