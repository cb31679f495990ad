SELECT EXISTS (SELECT FROM tokens k WHERE k.id = $1::uuid AND k.digest = $2::bytea);
