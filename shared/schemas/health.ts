import { closed, oneOf } from './build.ts';

export const HealthResponse = closed({ status: oneOf(['ok']) });

export const ReadinessResponse = closed({ status: oneOf(['ready']) });
