/** Textos de la flota. */

import type { Texts } from "../en";
import { decimal, plural as counted, whole } from "../format";

const plural = (n: number, one: string, other: string): string => counted(n, { one, other });
const units = (n: number): string => plural(n, "unidad", "unidades");
const workers = (n: number): string => plural(n, "ayudante", "ayudantes");

export const fleet: Texts["fleet"] = {
  title: "Flota",
  lead: "Las máquinas que hay detrás de este servidor: los ayudantes calculan para él y otros servidores comparten sus partidas.",
  loading: "Cargando la flota",

  what: "¿Qué es una flota?",
  about: [
    "Una flota es un grupo de ordenadores que ayudan a este. Juegan las partidas de los torneos y entrenamientos que se inician aquí. Los resultados son los mismos que solo en esta máquina, pero más rápido.",
    "Un ordenador que ayuda se llama ayudante. Los ayudantes pueden llegar e irse en cualquier momento: no se pierde nada, y otros terminan lo que empezaron.",
    "Ayudantes y servidores se encuentran a través de NATS, un pequeño servidor de mensajes.",
  ],
  steps: "Crear una flota",
  startNats: "Inicia el servidor NATS en esta máquina:",
  natsOpen: "Cualquiera que llegue a él puede conectarse: mantenlo en una red privada o protégelo.",
  startServer: "Inicia este servidor con su dirección:",
  addWorker: "En cada ordenador que vaya a ayudar, instala Claimeven e inicia un ayudante:",
  add: "Añadir una máquina",
  addAbout: "Instala en ella la misma versión de Claimeven y ejecuta este comando:",
  addHost: "Sustituye HOST por la dirección de esta máquina en tu red.",
  copy: "Copiar",
  copied: "Copiado",
  noWorkers: "No hay ningún ayudante conectado.",
  noWorkersAbout: "Hasta que se conecte uno, este servidor juega él mismo sus torneos y entrenamientos.",

  notAllowed: "Solo el operador de este servidor puede ver su flota.",
  notAllowedAbout: "Por defecto solo se muestra a los navegadores de la propia máquina del servidor, por ejemplo a través de un túnel SSH. El ajuste fleet_page lo cambia.",

  lost: (nats) => `No se puede conectar con el servidor NATS en ${nats}.`,
  lostSince: (time) => `Lleva ${time} sin responder. Las partidas continúan, y este servidor hace todo el trabajo hasta que vuelva.`,
  lostCheck: "Comprueba que nats-server esté en marcha allí y que ningún cortafuegos lo bloquee. La conexión se restablece automáticamente.",
  lastSeen: "Abajo se muestra el último estado conocido.",

  facts: { workers: "Ayudantes", threads: "Hilos", rate: "Unidades por segundo", waiting: "Unidades en espera", jobs: "Trabajos" },
  units: "Una unidad es una pequeña parte del trabajo, por ejemplo una partida.",
  rate: "Unidades por segundo",
  waiting: "Unidades que esperan a un ayudante",
  minutesAgo: "hace … minutos",
  now: "ahora",

  workers: "Ayudantes",
  columns: {
    worker: "Ayudante",
    version: "Versión",
    threads: "Hilos",
    running: "En curso",
    waiting: "En espera",
    done: "Hechas",
    handedBack: "Devueltas",
    rate: "Unidades/s",
    arithmetic: "Aritmética",
    kinds: "Trabajo",
    up: "En marcha",
  },
  otherVersion: (own) => `Usa una versión distinta de la de este servidor (${own}) y no puede ayudarlo.`,
  kinds: { games: "partidas", book: "libros de aperturas", solve: "posiciones", "self-play": "autojuego", gate: "duelos de filtro", exam: "exámenes", moves: "jugadas", sample: "posiciones de prueba" },
  gone: "Se fueron en los últimos diez minutos",
  stopped: (worker, ago, done) => `${worker} se detuvo hace ${ago}, tras ${units(done)}.`,
  silent: (worker, ago, done) => `No se sabe nada de ${worker} desde hace ${ago}; había hecho ${units(done)}.`,

  jobs: "Trabajos",
  noJobs: "No hay ningún trabajo en curso. Inicia un torneo en la arena o un comando con --nats.",
  job: (kind, host, version) => `${kind}, iniciado en ${host}, versión ${version}`,
  progress: (done, all) => `${whole(done)} de ${units(all)}`,
  jobFacts: { repeated: "Repetidas", checked: "Comprobadas", setAside: "Apartadas", dismissed: "Ayudantes excluidos", rate: "Unidades/s", left: "Tiempo restante" },
  jobAbout: {
    repeated: "Resultados que llegaron dos veces porque se interrumpió un ayudante o el servidor NATS. El segundo se ignora.",
    checked: "Unidades que calculó también un segundo ayudante, con el mismo resultado.",
    setAside: "Unidades que hicieron fallar a tres ayudantes. El trabajo se termina sin ellas.",
    dismissed: "Ayudantes que devolvieron un resultado incorrecto. Todos sus resultados se calculan de nuevo.",
  },
  setAside: (unit, reason) => `Se apartó la unidad ${unit}: ${reason}`,
  dismissed: (worker, reason) => `Se excluyó a ${worker}: ${reason}`,

  servers: "Servidores",
  serverColumns: { server: "Servidor", connected: "Conexión", version: "Versión", led: "Partidas dirigidas", live: "Partidas en memoria", up: "En marcha" },
  thisServer: (name) => `${name} (este)`,
  connected: "conectado",
  cutOff: "no llega a NATS",
  ledAbout: "El servidor que dirige una partida ejecuta sus jugadores del ordenador y lleva su reloj. Cualquier servidor acepta jugadas.",

  linkWorkers: (count) => `Flota: ${workers(count)}`,
  linkNone: "Usar otras máquinas",
  playedBy: (count) => `A cargo de ${workers(count)} de la flota.`,
  latest: "Partidas recién terminadas",
  perSecond: (rate) => decimal(rate, 1),
};
