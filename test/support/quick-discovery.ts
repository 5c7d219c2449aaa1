import { MetadataDiscovery, type MetadataStorage } from '@mikro-orm/core';

/**
 * Preloaded into a process of tests, describes the entities to the ORM once per process. The product opens one database
 * per process; tests open hundreds, with the same entities.
 */
const { discoverSync } = MetadataDiscovery.prototype;
let discovered: MetadataStorage | undefined;
MetadataDiscovery.prototype.discoverSync = function () {
  discovered ??= discoverSync.call(this);
  return discovered;
};
