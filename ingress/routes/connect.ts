import type { ConsentPages } from '../connect/consent.ts';
import type { PageContext } from '../http/route.ts';

export interface ConsentRoutes {
  consent: ConsentPages;
}

export const showConsent = (ctx: PageContext, { consent }: ConsentRoutes) => consent.show(ctx);

export const actOnConsent = (ctx: PageContext, { consent }: ConsentRoutes) => consent.act(ctx);
