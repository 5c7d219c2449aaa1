import { ingressConfig } from '../shared/config/config.ts';
import { withSecret } from '../shared/config/development-secret.ts';
import { runMain } from '../shared/lifecycle.ts';
import { startIngress } from './compose.ts';

await runMain('web', (values) => ingressConfig(withSecret(values)), startIngress);
