import { ingressConfig } from '../shared/config/config.ts';
import { runMain } from '../shared/lifecycle.ts';
import { startIngress } from './compose.ts';

await runMain('web', ingressConfig, startIngress);
