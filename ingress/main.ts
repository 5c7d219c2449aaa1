import { ingressConfig } from '../shared/config/config.ts';
import { runMain } from '../shared/lifecycle.ts';
import { withSecret } from '../shared/local/development-secret.ts';
import { startIngress } from './compose.ts';

await runMain('web', (values) => ingressConfig(withSecret(values)), startIngress);
