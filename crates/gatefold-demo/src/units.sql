-- A value in a unit, plus the offset, times the factor, is the value in the base unit of what it measures.
-- Sources: the SI brochure (9th edition), and NIST Special Publication 811 (2008) for the inch, the pound and
-- what derives from them. Volumes without a country are those of the USA.
CREATE TABLE units (
    symbol TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    measures TEXT NOT NULL,
    factor REAL NOT NULL,
    offset REAL NOT NULL DEFAULT 0
) WITHOUT ROWID;

INSERT INTO units (symbol, name, measures, factor) VALUES
    ('mm', 'millimetre', 'length', 0.001), ('cm', 'centimetre', 'length', 0.01), ('m', 'metre', 'length', 1),
    ('km', 'kilometre', 'length', 1000), ('in', 'inch', 'length', 0.0254), ('ft', 'foot', 'length', 0.3048),
    ('yd', 'yard', 'length', 0.9144), ('mi', 'mile', 'length', 1609.344), ('nmi', 'nautical mile', 'length', 1852),
    ('m2', 'square metre', 'area', 1), ('ha', 'hectare', 'area', 10000), ('ft2', 'square foot', 'area', 0.09290304),
    ('acre', 'acre', 'area', 4046.8564224), ('ml', 'millilitre', 'volume', 0.001), ('l', 'litre', 'volume', 1),
    ('m3', 'cubic metre', 'volume', 1000), ('cup', 'cup', 'volume', 0.2365882365), ('gal', 'gallon', 'volume', 3.785411784),
    ('g', 'gram', 'mass', 0.001), ('kg', 'kilogram', 'mass', 1), ('t', 'tonne', 'mass', 1000),
    ('oz', 'ounce', 'mass', 0.028349523125), ('lb', 'pound', 'mass', 0.45359237), ('s', 'second', 'time', 1),
    ('min', 'minute', 'time', 60), ('h', 'hour', 'time', 3600), ('d', 'day', 'time', 86400), ('wk', 'week', 'time', 604800),
    ('m/s', 'metre per second', 'speed', 1), ('km/h', 'kilometre per hour', 'speed', 1000.0 / 3600),
    ('mph', 'mile per hour', 'speed', 0.44704), ('kn', 'knot', 'speed', 1852.0 / 3600), ('B', 'byte', 'data', 1),
    ('kB', 'kilobyte', 'data', 1000), ('MB', 'megabyte', 'data', 1e6), ('GB', 'gigabyte', 'data', 1e9),
    ('KiB', 'kibibyte', 'data', 1024), ('MiB', 'mebibyte', 'data', 1048576), ('GiB', 'gibibyte', 'data', 1073741824),
    ('J', 'joule', 'energy', 1), ('kJ', 'kilojoule', 'energy', 1000), ('kcal', 'kilocalorie', 'energy', 4184),
    ('kWh', 'kilowatt hour', 'energy', 3600000), ('Pa', 'pascal', 'pressure', 1), ('bar', 'bar', 'pressure', 100000),
    ('psi', 'pound per square inch', 'pressure', 6894.757293168), ('K', 'kelvin', 'temperature', 1);

INSERT INTO units (symbol, name, measures, factor, offset) VALUES
    ('C', 'degree Celsius', 'temperature', 1, 273.15), ('F', 'degree Fahrenheit', 'temperature', 5.0 / 9, 459.67);
