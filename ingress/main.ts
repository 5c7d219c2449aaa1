import { ingressConfig } from '../shared/config/config.ts';
import { withSecrets } from '../shared/config/development.ts';
import { runMain } from '../shared/process/lifecycle.ts';
import { startIngress } from './compose.ts';

await runMain('web', (values) => ingressConfig(withSecrets(values)), startIngress);
