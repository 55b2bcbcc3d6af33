/** Los jugadores del ordenador: nombres, parámetros y descripciones. */

import { levelOf, parseAgent } from "../../transitions/agent-text";
import type { Texts } from "../en";
import { plural, whole } from "../format";

const NAMES: Record<string, string> = {
  random: "Al azar",
  influence: "Mapa de influencia",
  minimax: "Minimax",
  alphabeta: "Alfa-beta",
  mtdf: "MTD(f)",
  timed: "Profundización iterativa",
  mcts: "Monte Carlo",
  zero: "AlphaZero",
  perfect: "Perfecto",
  proof: "Demostración",
};

const ABOUT: Record<string, string> = {
  random: "Juega cualquier columna legal con la misma probabilidad.",
  influence: "Juega según un mapa de influencia, sin búsqueda.",
  minimax: "Explora todas las secuencias de jugadas hasta una profundidad fija.",
  alphabeta: "Minimax sin las jugadas que no pueden cambiar el resultado.",
  mtdf: "Halla el valor minimax con una serie de búsquedas estrechas y una tabla de transposiciones.",
  timed: "Busca a profundidad creciente hasta que se acaba el tiempo.",
  mcts: "Búsqueda en árbol de Monte Carlo con partidas al azar.",
  zero: "Una red neuronal que aprendió jugando contra sí misma, con búsqueda en árbol.",
  perfect: "Juega siempre la victoria más rápida; si no, el empate; si no, la derrota más lenta.",
  proof: "Juega sin búsqueda según una demostración de que en 7×6 gana el primer jugador, y en 6×6 el segundo.",
};

const LEVELS = [
  "Para la primera partida: le gusta el centro y pasa por alto muchas cosas.",
  "Mira tu respuesta, pero a veces no ve un tres en raya.",
  "Nunca deja pasar una victoria inmediata y bloquea la mayoría de las tuyas.",
  "Prepara amenazas dobles sencillas.",
  "Piensa cuatro jugadas por adelantado, con algunas imprecisiones.",
  "Piensa seis jugadas por adelantado: un buen jugador de club.",
  "Sabe cómo acaba cada jugada, pero se distrae con facilidad.",
  "Un experto con debilidad por la segunda mejor jugada.",
  "Un maestro que comete uno o dos errores por partida.",
  "Perfecto: nunca regala una victoria ni un empate.",
];

const PARAMETERS: Record<string, string> = {
  depth: "Profundidad",
  eval: "Evaluación",
  ties: "Desempate",
  ms: "Tiempo por jugada (ms)",
  sims: "Simulaciones",
  model: "Red",
  c: "Exploración",
  cpuct: "Exploración",
  nodes: "Posiciones por jugada",
  rule: "Regla de selección",
  c1: "Peso de la confianza",
  c2: "Peso de la política",
  fpu: "Penalización por jugada nueva",
  batch: "Tamaño del lote",
  temperature: "Temperatura",
  proofs: "Resultados demostrados",
  every: "Valor exacto de cada jugada",
  table: "Tamaño de la tabla (MB)",
  threads: "Hilos",
  book: "Libro de aperturas",
  seed: "Semilla",
};

const PARAMETERS_ABOUT: Record<string, string> = {
  depth: "Cuántas jugadas mira por adelantado, contando las de ambos.",
  ties: "Cuál de varias jugadas igual de buenas se juega.",
  ms: "En milisegundos.",
  sims: "Partidas simuladas por jugada.",
  c: "Los valores altos prueban más jugadas distintas.",
  cpuct: "Los valores altos prueban más jugadas distintas.",
  nodes: "Examina como máximo este número de posiciones.",
  rule: "Cómo elige la búsqueda la siguiente jugada.",
  c1: "Peso del intervalo de confianza en UCB.",
  c2: "Peso de la política en UCB.",
  fpu: "Cuánto por debajo de su posición se valora una jugada sin probar.",
  batch: "Posiciones evaluadas a la vez. Más es más rápido y algo más débil.",
  temperature: "0 juega siempre la mejor jugada; los valores altos son más aleatorios.",
  proofs: "Reconocer victorias y derrotas forzadas.",
  every: "Más lento, pero muestra el valor de cada columna.",
  table: "Memoria para la tabla de transposiciones.",
  threads: "Hilos del procesador por posición.",
  book: "Usar el libro de aperturas.",
  seed: "La misma semilla da la misma partida. Déjalo vacío para usar una nueva cada vez.",
};

const CHOICES: Record<string, string> = {
  on: "Sí",
  off: "No",
  centre: "La más cercana al centro",
  first: "Primera columna",
  last: "Última columna",
  random: "Al azar",
  sawwan: "Sawwan",
  galli: "Galli",
  nitk: "NITK",
  bits: "Bits",
  runs: "Cadenas",
  terminal: "Solo resultados",
  influence: "Mapa de influencia",
};

const EVALUATIONS: Record<string, string> = {
  sawwan: "Puntúa grupos de cuatro casillas, con mucho peso para los tríos del rival.",
  galli: "Puntúa grupos de cuatro casillas según sus fichas, con un extra por el centro.",
  nitk: "Puntúa grupos de cuatro casillas, se defiende de los tríos y prefiere el centro.",
  bits: "Puntúa tus grupos de cuatro casillas menos los del rival, sin extra por el centro.",
  runs: "Puntúa cadenas de fichas junto a casillas vacías; cada ficha más vale cien veces más.",
  terminal: "Puntúa solo partidas terminadas; lo demás vale 0.",
  influence: "Suma el mapa de influencia de ambos jugadores.",
};

function part(key: string, value: string, network: (id: string) => string): string {
  switch (key) {
    case "depth":
      return `profundidad ${value}`;
    case "sims":
      return value === "0" ? "sin búsqueda" : plural(Number(value), { one: "simulación", other: "simulaciones" });
    case "ms":
      return `${whole(Number(value))} ms por jugada`;
    case "model": {
      const [id = value, iteration] = value.split("@");
      return `red «${network(id)}»${iteration ? ` #${iteration}` : ""}`;
    }
    default:
      return `${(PARAMETERS[key] ?? key).replace(/ \(.*/, "").toLowerCase()}: ${(CHOICES[value] ?? value).toLowerCase()}`;
  }
}

export const players: Texts["players"] = {
  level: (level) => `Nivel ${level}`,
  levelAbout: (level) => LEVELS[level - 1] ?? "",
  agent: (text, network = (id) => id) => {
    const level = levelOf(text);
    if (level !== null) return `Nivel ${level}`;
    const { name, fields } = parseAgent(text);
    const shown = Object.entries(fields).filter(([key]) => key !== "seed");
    shown.sort(([a], [b]) => Number(b === "model") - Number(a === "model"));
    return [NAMES[name] ?? name, ...shown.map(([key, value]) => part(key, value, network))].join(", ");
  },
  kind: (name) => NAMES[name] ?? name,
  about: (name) => ABOUT[name] ?? "",
  parameter: (name) => PARAMETERS[name] ?? name,
  parameterAbout: (name) => PARAMETERS_ABOUT[name] ?? "",
  choice: (value) => CHOICES[value] ?? value,
  evaluationAbout: (name) => EVALUATIONS[name] ?? "",
  fieldError: (error, text) => {
    switch (error.must) {
      case "number":
        return `«${text}» no es un número.`;
      case "whole":
        return `«${text}» no es un número entero.`;
      case "min":
        return `Debe ser al menos ${error.limit}.`;
      case "max":
        return `Debe ser como máximo ${error.limit}.`;
    }
  },
};
